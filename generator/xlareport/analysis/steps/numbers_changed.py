"""Steps that may change the numbers of a program: types, precision, order, arithmetic.

The first place to look when a loss drifts after an upgrade. Data movement is left out, and so is
what is exact for every input. What XLA's backends do with an instruction is not known here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps import wording
from xlareport.analysis.steps.arithmetic import is_rounded, rounds_otherwise, unscaled
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.differences import attribute_change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.moved_converts import (
    MOVERS,
    ConvertKey,
    Types,
    key_of,
    list_roundings,
)
from xlareport.analysis.steps.rounded_choices import is_alike_in_types
from xlareport.analysis.steps.sources import reads_other_values
from xlareport.analysis.steps.step import StepChange
from xlareport.analysis.steps.summation_order import (
    adds_other_sums,
    changed_attributes,
    find_order_change,
    partial_sum,
    sends_sum,
)
from xlareport.hlo.model import Computation, Instruction
from xlareport.knowledge.grades import Grade, weakest
from xlareport.runtime import english

TYPE = "element type"
PRECISION = "precision or algorithm"
ORDER = "reduction order"
ARITHMETIC = "other arithmetic"

_FLOATS = ("f", "bf", "c")


class NumbersChanged(Struct, frozen=True):
    """Changes of one kind in a step that may affect numerics."""

    what: str
    """`element type`, `precision or algorithm`, `reduction order`, `other arithmetic`."""
    count: int
    example: str
    """Words, with names in backticks."""
    grade: Grade
    """The least sure of the changes."""


_ELSEWHERE = frozenset(
    {
        Kind.ABSORBED,
        Kind.COMBINED,
        Kind.FUSED,
        Kind.INLINED,
        Kind.LEFTOVER,
        Kind.MERGED,
        Kind.UNIFIED,
        Kind.OUTLINED,
        Kind.PART,
        Kind.REWIRED,
        Kind.SHARED,
        Kind.UNUSED,
    }
)
"""Kinds that compute what was computed before, in another place, or what nothing live uses."""
_PASSING = MOVERS | {
    "call",
    "conditional",
    "fusion",
    "get-tuple-element",
    "iota",
    "optimization-barrier",
    "tuple",
    "while",
}
"""Opcodes that give on the values of others: their type is that of what they are given."""


def numbers_changed(change: StepChange) -> tuple[NumbersChanged, ...]:
    """Return the changes of a step that affect numerics, by kind; integers are left out.

    The example is an instruction of another opcode, else one that stays, where there is one.
    """
    if change.matching is None:
        return ()
    rows: dict[str, list[_Row]] = {}
    for row in _changed_rows(change.changes, change.matching):
        rows.setdefault(row.what, []).append(row)
    return tuple(
        NumbersChanged(
            what,
            len(some),
            min(some, key=lambda row: row.rank).words,
            weakest(row.grade for row in some),
        )
        for what, some in rows.items()
    )


class _Row(Struct, frozen=True):
    """How one change affects numerics."""

    what: str
    words: str
    grade: Grade
    rank: int
    """0 where another opcode does the arithmetic, 1 where the instruction stays, else 2."""


def _changed_rows(changes: Sequence[Change], matching: Matching) -> Iterator[_Row]:
    roundings = list_roundings(changes, matching)
    retyped = _retyped_callees(changes, matching)
    for change in changes:
        old, new = _lines(change, matching)
        elsewhere = change.kind in _ELSEWHERE and not _is_gathered(change, old, new)
        if elsewhere or _passes_on(change, matching):
            continue
        if not retyped.isdisjoint(
            place.computation for place in (change.before, change.after) if place
        ):
            continue
        if not any(_is_float(line) for line in (old, new)):
            continue
        rank = 2 if not all(change.opcodes) else int(change.opcodes[0] == change.opcodes[1])
        for what, words in _effects(change, old, new, matching, roundings):
            named = f"{_scope_words(change, old, new)}: {wording.coded(words)}"
            yield _Row(what, named, change.grade, rank)


def _retyped_callees(changes: Sequence[Change], matching: Matching) -> set[str]:
    """Return the reducers and the like that instructions of another type now apply.

    What they compute has the type of those, which are told.
    """
    retyped: set[str] = set()
    for change in changes:
        old, new = _lines(change, matching)
        if old is None or new is None or not _PASSING.isdisjoint(change.opcodes):
            continue
        if old.called and _result_type(old) != _result_type(new):
            retyped.update(name for line in (old, new) for _, name in line.called)
    return retyped


def _is_gathered(change: Change, old: Instruction | None, new: Instruction | None) -> bool:
    """Return whether one operation does the arithmetic of several in a row, or their sum."""
    if change.kind is not Kind.COMBINED or old is None or new is None:
        return False
    return is_rounded(new) or new.opcode == "reduce" or sends_sum(change, old, new)


def _lines(change: Change, matching: Matching) -> tuple[Instruction | None, Instruction | None]:
    old = matching.before.find(*change.before) if change.before else None
    new = matching.after.find(*change.after) if change.after else None
    return old, new


def _scope_words(change: Change, old: Instruction | None, new: Instruction | None) -> str:
    lines = dict.fromkeys(line.name for line in (old, new) if line)
    names = " became ".join(wording.name(name) for name in lines)
    return f"{names} in {wording.code(wording.short_scope(change.scope))}"


def _passes_on(change: Change, matching: Matching) -> bool:
    """Return whether an instruction only inherits the type of its operand."""
    if change.opcodes == ("parameter", "parameter"):
        entry = matching.after.entry
        return change.after is not None and (
            entry is None or change.after.computation != entry.name
        )
    return bool(_PASSING.intersection(change.opcodes))


def _effects(
    change: Change,
    old: Instruction | None,
    new: Instruction | None,
    matching: Matching,
    roundings: Mapping[ConvertKey, Types],
) -> Iterator[tuple[str, str]]:
    """Yield the kinds of effect, and what was and is; nothing where numbers stay."""
    if old is not None and new is not None:
        order = find_order_change(change, old, new, matching)
        if _result_type(old) != _result_type(new):
            known = _type(change, old, new, matching) or _taken_in(change, old, new, matching)
            yield from filter(None, (known, (ORDER, order) if order else None))
            return
        known = _precision(old, new) or ((ORDER, order) if order else None)
        known = known or _taken_in(change, old, new, matching)
        known = known or _arithmetic(change, old, new, matching)
        yield from filter(None, (known,))
        return
    partial = partial_sum(change.after, new, matching)
    types = roundings.get(key_of(change))
    if partial is not None:
        yield ORDER, partial
    elif types is not None:
        verb = "removed" if new is None else "added"
        yield TYPE, f"a convert from {types[0]} to {types[1]} was {verb}"


def _taken_in(
    change: Change, old: Instruction, new: Instruction, matching: Matching
) -> tuple[str, str] | None:
    """Return what a library's call computes that instructions of their own did, and rounded."""
    if change.before is None or change.after is None:
        return None
    taken = takes_in(old, new, _homes(change, matching))
    return (ARITHMETIC, taken) if taken else None


def _homes(change: Change, matching: Matching) -> tuple[Computation | None, Computation | None]:
    """Return the computations of what was and of what is."""
    was, now = change.before, change.after
    return (
        matching.before.by_name.get(was.computation) if was else None,
        matching.after.by_name.get(now.computation) if now else None,
    )


def _type(
    change: Change, old: Instruction, new: Instruction, matching: Matching
) -> tuple[str, str] | None:
    """Return how the element type changed of what computes: wider and narrower both differ."""
    both = all(_is_float(line) for line in (old, new))
    modules = matching.before, matching.after
    if not both or is_alike_in_types(old, new, _homes(change, matching), modules):
        return None
    return TYPE, f"{_result_type(old)} → {_result_type(new)}"


def _arithmetic(
    change: Change, old: Instruction, new: Instruction, matching: Matching
) -> tuple[str, str] | None:
    """Return which operation rounds in the place of another, or reads other values than it did."""
    if change.balance or change.before is None or change.after is None:
        return None
    home = matching.after.by_name.get(change.after.computation)
    if rounds_otherwise(old, new, home):
        return ARITHMETIC, f"{old.opcode} → {new.opcode}"
    homes = change.before.computation, change.after.computation
    if change.kind is Kind.SWAPPED and adds_other_sums(old, new, *homes, matching):
        return ORDER, f"moved {change.reason}"
    is_other = is_rounded(new) and change.kind in _OTHER_OPERANDS
    if not is_other or _scales_alike(old, new, homes, matching):
        return None
    if change.kind is not Kind.COMBINED and not reads_other_values(old, new, *homes, matching):
        return None
    what = ORDER if adds_other_sums(old, new, *homes, matching) else ARITHMETIC
    return what, str(change.reason) if change.kind is Kind.COMBINED else _reads(change)


def _scales_alike(
    old: Instruction, new: Instruction, homes: tuple[str, str], matching: Matching
) -> bool:
    """Return whether both scale one value by powers of two, however often: that is exact."""
    was = unscaled(old, matching.before.by_name.get(homes[0]))
    now = unscaled(new, matching.after.by_name.get(homes[1]))
    if was is old or now is new:
        return False
    return matching.partner_after(Place(homes[0], was.name)) == Place(homes[1], now.name)


_OTHER_OPERANDS = frozenset({Kind.COMBINED, Kind.OPERANDS, Kind.REBUILT, Kind.REDIRECTED})


def _reads(change: Change) -> str:
    return str(next(iter(change.details), "") or change.reason)


def _precision(old: Instruction, new: Instruction) -> tuple[str, str] | None:
    """Return which precision or algorithm a product is asked to have instead of another."""
    name = (
        next(changed_attributes(_PRECISIONS, old, new), None) if old.opcode == new.opcode else None
    )
    return None if name is None else (PRECISION, attribute_change(name, old, new))


_PRECISIONS = ("operand_precision", "algorithm")


def _is_float(line: Instruction | None) -> bool:
    """Return whether floats are computed; a library's call gives its scratch memory beside them."""
    if line is None:
        return False
    return _result_type(line).startswith(_FLOATS)


def _result_type(line: Instruction) -> str:
    """Return the element type of a result; of a library's call with scratch memory, the first."""
    is_call = line.opcode == "custom-call" and line.shape.elements
    return (line.shape.elements[0] if is_call else line.shape).element_type


_PRODUCTS = frozenset({"convolution", "custom-call", "dot"})
_CALLS = re.compile(r"__cudnn\$conv|__cublas\$")


def takes_in(
    old: Instruction, new: Instruction, homes: tuple[Computation | None, Computation | None]
) -> str | None:
    """Return what a product's call takes in that the product before it did not, in words.

    Scalars are left out, as they scale. None where there is nothing. `homes` are the computations.
    """
    target = new.call_target
    if old.opcode not in _PRODUCTS or new.opcode != "custom-call" or not _CALLS.match(target):
        return None
    was, now = (_operands(line, home) for line, home in zip((old, new), homes, strict=True))
    if len(was) < _FACTORS or len(now) <= len(was):
        return None
    more = english.listing([f"%{name}" for name in now[len(was) :]])
    return f"takes in {more} too, before the result of the call is rounded"


_FACTORS = 2


def _operands(line: Instruction, home: Computation | None) -> list[str]:
    """Return the names of the operands that are arrays of floats."""
    known = ((name, home.by_name.get(name) if home else None) for name in line.operand_names)
    return [
        name
        for name, operand in known
        if operand is not None
        and operand.shape.dimensions
        and operand.shape.element_type.startswith(_FLOATS)
    ]
