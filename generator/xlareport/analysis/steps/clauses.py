"""One change as a clause with an instruction's name: old and new value, place and reason.

Names are in backticks. An opcode precedes a name that does not contain it.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import (
    BothBranches,
    InHalves,
    Masked,
    OfCopy,
    PaddedOnce,
    Past,
    Regrouped,
)
from xlareport.analysis.steps import wording
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.details import CopyPlace, Difference, ReadPastMove, ShapeChange
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.kinds import Kind, words_of_kinds
from xlareport.analysis.steps.replacements import (
    is_product_by_reciprocal,
    is_summed_product,
    place_of,
)
from xlareport.analysis.steps.unread import NO_LIVE_USERS
from xlareport.knowledge.grades import Grade
from xlareport.runtime import english, units

_ALL_NAMED = 2
_DOUBT = {Grade.EXACT: "", Grade.MATCHED: "", Grade.GUESSED: "it seems that "}


def example_of(group: ChangeGroup) -> str:
    """Return a group's first example, with how often it happened."""
    repeated = f" ({group.repetition})" if group.repetition else ""
    return f"{clause(group.examples[0])}{repeated}"


def clause(change: Change) -> str:
    """Return a clause about one instruction, which says if the pairing is a guess."""
    doubt = "" if change.kind is Kind.UNTRACED else _DOUBT[change.grade]
    return doubt + _clause(change) + _new_place(change)


def _new_place(change: Change) -> str:
    """Return the words that follow of a replacement that is in another computation."""
    known = change.kind is Kind.REPLACED
    place = place_of(change.kinds, change.details) if known else ""
    return f" and {wording.coded(place)}" if place else ""


def _clause(change: Change) -> str:
    old, new = _name_with_opcode(change, 0), _name_with_opcode(change, 1)
    words = words_of_kinds()[change.kind]
    template = _OF_OPCODE.get((change.kind, change.opcodes[0]))
    template = template or _of_reason(change) or words.clause
    if change.kind is Kind.FOLDED and change.after is None:
        template = "{old}{where} was folded with what used it"
    elif change.kind is Kind.UNTRACED and change.before is None:
        template = "what {new}{where} comes from is not known"
    elif change.kind is Kind.EXPANDED and (not change.members or _names_halves(change)):
        template = "{old}{where} was expanded {reason}"
    elif change.kind is Kind.INLINED and not change.members:
        template = "{old}{where} was inlined: {reason}"
    elif change.kind is Kind.REPLACED and wording.is_joined(change.opcodes):
        new_form = "{new}, still asynchronous," if change.target else "{new}"
        template = f"{{old}}{{where}} and its done became {new_form}"
    elif words.link:
        template += " (renamed to {new_name})" if _is_left_renamed(change) else ""
        template += f"{words.link}{{detail}}" if change.details else ""
    elif _is_same_name(change):
        template = words.same_name or template
    elif change.kind in _LIVING:
        renamed = f"{'now' if change.balance else 'renamed to'} {_bare(change.after)}"
        template += f" ({renamed if change.opcodes[0] == change.opcodes[1] else f'now {new}'})"
        template += ", {detail}" if change.kind is Kind.SWAPPED and change.details else ""
    elif _has_place(change):
        template += " {detail}"
    return f"{template}{_regrouping(change)}".format(
        old=old,
        new=new,
        old_name=_bare(change.before),
        new_name=_bare(change.after),
        opcode=english.with_article(_opcode(change, 1)) if change.opcodes[1] else "",
        home=wording.name(change.before.computation) if change.before else "",
        new_home=wording.name(change.after.computation) if change.after else "",
        where=_where(change),
        reason=wording.coded(str(change.reason)),
        detail=_detail(change),
        members=_members(change),
        holders=_holders(change),
        result=_result_name(change),
        link=f"; {_bare(change.after)}" if len(change.members) > 1 else ", which",
    )


def _has_place(change: Change) -> bool:
    """Return whether a clone says where it is or which form it has; so may a whole computation."""
    whole = change.kind is Kind.COPIED and any(
        isinstance(detail, CopyPlace) for detail in change.details[:1]
    )
    return whole or (change.kind is Kind.CLONED and bool(change.details))


def _is_left_renamed(change: Change) -> bool:
    """Return whether what lost its live users stays under another name, as what it was."""
    names = {place.instruction for place in (change.before, change.after) if place is not None}
    stays = change.kind is Kind.LEFT and change.reason == NO_LIVE_USERS
    return stays and len(names) > 1 and change.opcodes[0] == change.opcodes[1]


def _regrouping(change: Change) -> str:
    """Return the end of a template that says why a sum or product has other operands."""
    regrouped = change.kind in _LIVING and isinstance(change.reason, Regrouped)
    return ": {reason}" if regrouped else ""


def _names_halves(change: Change) -> bool:
    return isinstance(change.reason, InHalves)


def _where(change: Change) -> str:
    """Return the computation that an instruction is in, and its framework scope if it has one."""
    computation = computation_of(change)
    if not computation:
        return ""
    scope = f" ({wording.code(wording.short_scope(change.scope))})" if change.scoped else ""
    return f" in {wording.code(wording.short(computation))}{scope}"


def computation_of(change: Change) -> str:
    """Return the computation of the instruction that a change is about; '' without a place."""
    places = (change.before, change.after)
    ordered = reversed(places) if change.kind in _ARRIVING else places
    return next((place.computation for place in ordered if place is not None), "")


_ARRIVING = frozenset(
    {Kind.ADDED, Kind.COMBINED, Kind.FUSED, Kind.OUTLINED, Kind.PARAMETER, Kind.UNUSED}
)
"""Kinds of clauses about what is new."""


def _of_reason(change: Change) -> str:
    """Return the template of what its reason says; empty for others."""
    product = is_summed_product(change.opcodes) or is_product_by_reciprocal(change.opcodes)
    if change.kind is Kind.SPLIT and product:
        return "{old}{where} became {members}"
    if change.kind is Kind.COMBINED and len(change.members) == 1:
        return "{new}{where} combines copies of {members}"
    if isinstance(change.reason, Past) and change.kind in _OF_PIECES:
        return _OF_PIECES[change.kind]
    if isinstance(change.reason, BothBranches):
        return "{old}{where} was inlined into {members}: {reason}"
    if change.kind is Kind.REPLACED and isinstance(change.reason, OfCopy):
        return "{old}{where} became {new} {reason}"
    is_known = change.kind is Kind.REPLACED and isinstance(change.reason, _OF_REPLACEMENTS)
    return "{old}{where} became {new}, {reason}" if is_known else ""


_OF_PIECES = {
    Kind.COMBINED: "{new}{where} combines {members}, which moved {reason}",
    Kind.SPLIT: "{old}{where} was moved {reason} and split into {members}",
}
"""What is told of what passed a concatenation: one for each operand, or one for all."""
_OF_REPLACEMENTS = Masked | PaddedOnce | Regrouped
"""Reasons that are told of a replacement."""


def _opcode(change: Change, side: int) -> str:
    """Return the words for the opcode on one side; a new custom call includes its target."""
    return wording.called(change.opcodes[side], _target(change, side))


def _target(change: Change, side: int) -> str:
    """Return the target of the new custom call; empty for other opcodes."""
    return change.target if side and change.opcodes[side] == "custom-call" else ""


_OF_OPCODE = {
    (Kind.ABSORBED, "call"): "{old}{where} was inlined; {new_name} {reason}",
    (Kind.INLINED, "while"): "{old}{where} was unrolled into {members}",
}
_LIVING = frozenset(
    {
        Kind.TYPE,
        Kind.SHAPE,
        Kind.CARRIED,
        Kind.SUMMED,
        Kind.SPACE,
        Kind.LAYOUT,
        Kind.OPERANDS,
        Kind.ATTRIBUTES,
        Kind.PRECISION,
        Kind.SHARDING,
        Kind.CONFIG,
        Kind.METADATA,
        Kind.SWAPPED,
    }
)
"""Kinds of change that keep the instruction; its name may change."""


_OF_DIMENSIONS = frozenset(
    {
        "all-gather",
        "all-to-all",
        "convolution",
        "dot",
        "gather",
        "reduce-scatter",
        "scatter",
        "sort",
    }
)
_WITH_OPERANDS = frozenset({"convolution", "dot", "reduce"})
"""Opcodes that say by attributes what a reshape or a transpose of an operand did."""
_READING = (Kind.OPERANDS, Kind.REDIRECTED, Kind.REWIRED)


def _detail(change: Change) -> str:
    """Return the old and new value; without these, the reason of the pairing."""
    detail = change.details[0] if change.details and change.details[0] else str(change.reason)
    if isinstance(detail, CopyPlace):
        return detail.written(wording.coded, wording.code)
    if isinstance(detail, ShapeChange):
        lead, tail = wording.coded(detail.lead), wording.coded(detail.tail)
        detail = replace(detail, lead=lead, tail=tail)
        return f"{detail.written(wording.code)}{_with_attributes(change)}{_past_move(change)}"
    message = str(detail)
    if change.kind is Kind.ATTRIBUTES and Kind.CONFIG in change.kinds:
        message += f"; {change.details[change.kinds.index(Kind.CONFIG)]}"
    if change.kind is Kind.ATTRIBUTES and change.opcodes[1] in _WITH_OPERANDS:
        message = "; ".join(map(str, (message, *_read_instead(change))))
    dimensions = _with_attributes(change) if change.kind is Kind.TURNED else ""
    return f"{wording.coded(message)}{_with_shape(change)}{dimensions}"


def _read_instead(change: Change) -> list[Difference]:
    """Return what a sum or product reads now: it bypassed a move, which its numbers show."""
    kinds = [kind for kind in change.kinds if kind in _READING]
    return [change.details[change.kinds.index(kind)] for kind in kinds]


def _past_move(change: Change) -> str:
    """Return what another shape follows from: a reduce reads what a move that it read moved."""
    if change.kind is not Kind.SHAPE:
        return ""
    read = [detail for detail in _read_instead(change) if isinstance(detail, ReadPastMove)]
    return f"; {wording.coded(str(read[0]))}" if read else ""


def _with_shape(change: Change) -> str:
    """Return the other shape of what moved out of a loop or into one, where it has another."""
    if change.kind not in {Kind.HOISTED, Kind.SUNK} or Kind.SHAPE not in change.kinds:
        return ""
    shape = change.details[change.kinds.index(Kind.SHAPE)]
    return f"; shape: {shape.written(wording.code) if isinstance(shape, ShapeChange) else shape}"


def _with_attributes(change: Change) -> str:
    """Return the changed attributes beside a changed shape, if they define the computation."""
    if Kind.ATTRIBUTES not in change.kinds:
        return ""
    detail = str(change.details[change.kinds.index(Kind.ATTRIBUTES)])
    tells = change.opcodes[1] in _OF_DIMENSIONS or "dim_labels" in detail  # of library calls
    return f"; {wording.coded(detail)}" if tells else ""


def _is_same_name(change: Change) -> bool:
    both = change.before is not None and change.after is not None
    return both and _bare(change.before) == _bare(change.after)


def _bare(place: Place | None) -> str:
    return "" if place is None else wording.name(place.instruction)


def _name_with_opcode(change: Change, side: int) -> str:
    """Return a name, with the opcode before it where the name does not say it."""
    place = change.after if side else change.before
    if place is None:
        return ""
    opcode = change.opcodes[side]
    plain = opcode.replace("-", "_") in place.instruction.replace("-", "_")
    if not opcode or (plain and not _target(change, side)):
        return _bare(place)
    return f"the {_opcode(change, side)} {_bare(place)}"


def _holders(change: Change) -> str:
    """Name the fusions that hold what a former one held; of many, two and how many more."""
    places = dict.fromkeys((change.after, *change.members))
    named = [_bare(place) for place in places if place is not None]
    more = len(named) - _ALL_NAMED
    return english.listing([*named[:_ALL_NAMED], *([f"{more:,} more"] if more > 0 else [])])


def _result_name(change: Change) -> str:
    """Return which of the instructions that another was expanded into gives its result.

    Of a single one that needs no words, and of two it is the last.
    """
    if len(change.members) > _ALL_NAMED:
        return f"; {_bare(change.after)} gives its result"
    return ", which gives its result" if len(change.members) > 1 else ""


def _members(change: Change) -> str:
    """Name what a fusion or call took in, or set free; of many, count them and name the first.

    Of the parts of a split instruction the first two are named. Copies of what stays are apart.
    """
    if not change.members:
        return "nothing that is known"
    copied = [_bare(place) for place in change.copied]
    moved = [_bare(place) for place in change.members if place not in change.copied]
    if copied:
        copies = (
            f"a copy of {copied[0]}" if len(copied) == 1 else f"copies of {_counted(copied, 1)}"
        )
        many = len(moved) > _ALL_NAMED
        return f"{_counted(moved, 1)}, and {copies}" if many else english.listing([*moved, copies])
    return _counted(moved, _ALL_NAMED if change.kind is Kind.SPLIT else 1)


def _counted(names: Sequence[str], most: int) -> str:
    """Return the names of a few instructions, or the number of many with the first names."""
    if len(names) <= _ALL_NAMED:
        return english.listing(names)
    count = units.plural(len(names), "instruction")
    return f"{count}, including {english.listing(names[:most])}"
