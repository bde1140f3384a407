"""Changes of a step that together are something else: a clone, a merged duplicate, a leftover.

What a step adds to computations without live callers, or without live users, has no effect.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import live_computations
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.details import CopyPlace
from xlareport.analysis.steps.duplicates import are_duplicates
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.operand_chains import behind
from xlareport.analysis.steps.operand_words import Operand
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

_ELEMENT = "get-tuple-element"
_MOST_USERS = 4
_DEEPEST = 8
"""Removed users of removed users that are followed."""


def with_removed_duplicates(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; the removal of a duplicate is its merging into what was kept.

    Where the line of the duplicate is there as it was, that one stayed, whose name the other got.
    """
    result = [_with_duplicate(matching, change) for change in changes]
    renamed = {change.after: change for change in result if change.kinds == (Kind.RENAMED,)}
    stayed = {
        change.after: change
        for change in result
        if change.after in renamed and _keeps_name(change) and _is_as_it_was(matching, change.after)
    }
    return [
        _merged(renamed[change.after], change.after, balance=change.balance)
        if stayed.get(change.after) is change
        else _with_name_kept(matching, change)
        for change in result
        if change.after not in stayed or renamed[change.after] is not change
    ]


def _is_as_it_was(matching: Matching, place: Place | None) -> bool:
    if place is None:
        return False
    line = matching.before.find(*place)
    return line is not None and line == matching.after.find(*place)


def _keeps_name(change: Change) -> bool:
    """Return whether a duplicate was merged into what has its name now."""
    return change.kind is Kind.MERGED and change.before == change.after is not None


def _with_duplicate(matching: Matching, change: Change) -> Change:
    if change.before is None:
        return change
    old, new = change.opcodes
    if change.kind is Kind.MERGED and old != new:
        return _read_through(matching, change, change.before)
    if change.kind is Kind.CLONED and old != new:
        kind = Kind.REPLACED
        return replace(change, kind=kind, kinds=(kind,), details=(f"{old} → {new}",))
    if change.kind is not Kind.REMOVED:
        return change
    kept = kept_duplicate(matching, change.before)
    line = None if kept is None else matching.after.find(*kept)
    is_same = kept and line and line.opcode == change.opcodes[0]
    return _merged(change, kept, balance=change.balance) if is_same else change


def _read_through(matching: Matching, change: Change, place: Place) -> Change:
    """Return the removal of an element whose users use what its tuple holds; no duplicate went."""
    held = change.after
    if held is None:
        return change
    reason = f"%{held.instruction} has its value"
    for user in matching.before.by_name[place.computation].users.get(place.instruction, ()):
        after = matching.partner_after(Place(place.computation, user.name))
        now = None if after is None else matching.after.find(*after)
        if now is not None and held.instruction in now.operand_names:
            reason = f"%{now.name} uses %{held.instruction} instead"
            break
    return replace(
        change,
        kind=Kind.REMOVED,
        kinds=(Kind.REMOVED,),
        after=None,
        opcodes=(change.opcodes[0], ""),
        reason=reason,
        details=(),
    )


def _with_name_kept(matching: Matching, change: Change) -> Change:
    """Return a merging; one into what has the name of the duplicate now says what that was."""
    if not _keeps_name(change) or change.before is None:
        return change
    former = matching.partner_before(change.before)
    if former is None or former == change.before:
        return change
    name = change.before.instruction
    return replace(
        change, reason=f"a duplicate of %{former.instruction}, which has the name %{name} now"
    )


def kept_duplicate(matching: Matching, place: Place, depth: int = 0) -> Place | None:
    """Return the instruction after that a user of a removed duplicate uses instead; None if none.

    A user that was removed as a duplicate itself continues as the one that was kept.
    """
    home = matching.before.by_name[place.computation]
    for user in home.users.get(place.instruction, ())[:_MOST_USERS]:
        at = Place(home.name, user.name)
        after = matching.partner_after(at)
        if after is None and depth < _DEEPEST:
            after = kept_duplicate(matching, at, depth + 1)
        now = None if after is None else matching.after.find(*after)
        if after is None or now is None or len(now.operands) != len(user.operands):
            continue
        name = [*now.operand_names][[*user.operand_names].index(place.instruction)]
        kept = Place(after.computation, name)
        known = matching.partner_before(kept)
        if known is not None and known != place and _are_equal(matching.before, place, known):
            return kept
    return None


def _are_equal(module: HloModule, place: Place, known: Place) -> bool:
    return _passed_on(module, place) == known or are_duplicates(module, place, known)


def _passed_on(module: HloModule, place: Place) -> Place:
    """Return the instruction whose value an element of a tuple of the same computation has."""
    for _ in range(_DEEPEST):
        element = behind(module, Operand(place, "")) if _is(module, place, _ELEMENT) else None
        if element is None or not _is(module, element.place, "tuple"):
            break
        put_in = behind(module, element)
        if put_in is None or put_in.element:
            break
        place = put_in.place
    return place


def _is(module: HloModule, place: Place, opcode: str) -> bool:
    line = module.find(*place)
    return line is not None and line.opcode == opcode


def _merged(change: Change, kept: Place | None, *, balance: int) -> Change:
    return replace(
        change,
        kind=Kind.MERGED,
        kinds=(Kind.MERGED,),
        after=kept,
        opcodes=(change.opcodes[0], change.opcodes[0]),
        reason="a duplicate of what was kept",
        details=(),
        numbering=False,
        balance=balance,
    )


_PAIR = tuple[str, str]
"""A computation before, and one after."""


def with_whole_computations(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes, those of computations that were cloned or merged as a whole marked so.

    A computation is cloned as a whole if it is new and every instruction is a clone from the same
    computation, which has as many; it is merged as a whole if it is gone and every instruction was
    merged into the same computation. One that stays without callers, while another that continues
    it is called, was cloned to that: what has the same lines was not renamed.
    """
    result = list(changes)
    kept = set(matching.computations.values()) | matching.before.by_name.keys()
    copies = _whole_computations(result, Kind.CLONED, matching.after, kept)
    cloned = [pair for pair in copies if _is_as_long(matching, *pair)]
    going_on = matching.computations.keys() | matching.after.by_name.keys()
    merged = _whole_computations(result, Kind.MERGED, matching.before, going_on)
    stayed = [pair for pair in matching.computations.items() if _has_original(matching, *pair)]
    kinds = dict.fromkeys([*cloned, *stayed], Kind.COPIED) | dict.fromkeys(merged, Kind.UNIFIED)
    marked = [_marked(change, kinds) for change in result] if kinds else result
    copied = {(change.before, change.after) for change in marked if change.kind is Kind.COPIED}
    return [change for change in marked if not _is_copy_renamed(change, copied)]


def _is_as_long(matching: Matching, old: str, new: str) -> bool:
    """Return whether a copy has all that its original has, before or after the step."""
    originals = (matching.before.by_name.get(old), matching.after.by_name.get(old))
    count = len(matching.after.by_name[new].instructions)
    return any(home is not None and len(home.instructions) == count for home in originals)


def _has_original(matching: Matching, old: str, new: str) -> bool:
    """Return whether a computation that another continues is still there."""
    return old != new and old in matching.after.by_name


def _is_copy_renamed(change: Change, copied: Collection[tuple[Place | None, Place | None]]) -> bool:
    return change.kind is Kind.RENAMED and (change.before, change.after) in copied


def _whole_computations(
    changes: Sequence[Change], kind: Kind, module: HloModule, others: Iterable[str]
) -> list[_PAIR]:
    """Return the pairs of which one is a computation of `module` alone, cloned or merged whole."""
    counts: dict[_PAIR, int] = defaultdict(int)
    for change in changes:
        if change.kind is kind and change.before and change.after:
            counts[change.before.computation, change.after.computation] += 1
    side = 1 if kind is Kind.CLONED else 0
    return [
        pair
        for pair, count in counts.items()
        if pair[side] not in others and count == len(module.by_name[pair[side]].instructions)
    ]


def _marked(change: Change, kinds: Mapping[_PAIR, Kind]) -> Change:
    if change.before is None or change.after is None:
        return change
    if change.kind not in (_OF_COPIES if change.balance > 0 else _OF_LINES):
        return change
    kind = kinds.get((change.before.computation, change.after.computation))
    if kind is None:
        return change
    return replace(change, kind=kind, kinds=(kind, *change.kinds), numbering=False)


_OF_LINES = frozenset({Kind.CLONED, Kind.MERGED})
_OF_COPIES = _OF_LINES | {Kind.REDIRECTED, Kind.RENAMED, Kind.REWIRED}
"""Kinds of what a copied computation has, too, of a computation that stays."""


class UncalledComputations(Struct, frozen=True):
    """Counts of the computations that lost their live callers in a step."""

    computations: int = 0
    instructions: int = 0
    leftovers: int = 0
    """How many of these instructions the step added: they are told as leftovers, too."""


def count_uncalled(matching: Matching, changes: Iterable[Change]) -> UncalledComputations:
    """Count the computations that lost their live callers, apart from those all of leftovers."""
    lost = live_computations(matching.before) - live_computations(matching.after)
    if not lost:
        return UncalledComputations()
    added = Counter(
        change.after.computation
        for change in changes
        if change.after and change.kind is Kind.LEFTOVER
    )
    sizes = {
        computation.name: len(computation.instructions)
        for computation in matching.after.computations
        if computation.name in lost and added[computation.name] < len(computation.instructions)
    }
    return UncalledComputations(len(sizes), sum(sizes.values()), sum(added[name] for name in sizes))


def with_leftovers(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; what was added to computations without live callers is a leftover.

    A computation that stayed and lost its callers to a clone was cloned; nothing was added to it.
    """
    live = live_computations(matching.after)
    result = list(changes)
    if len(live) == len(matching.after.computations):
        return result
    return [
        _of_clone(matching, change) or as_leftover(change) if _is_leftover(change, live) else change
        for change in _with_stayed(matching, result, live)
    ]


def _with_stayed(
    matching: Matching, changes: Sequence[Change], live: Collection[str]
) -> Iterator[Change]:
    """Yield the changes; what has stayed in a computation that lost its callers is not added.

    What it became elsewhere is a clone of it.
    """
    stayed = {change.after for change in changes if _has_stayed(matching, change, live)}
    first = {change.before: change for change in changes if _takes_place(change)}
    stayed &= first.keys()
    for change in changes:
        if change.before in stayed and first[change.before] is change:
            if change.after is not None:
                yield _clone(change)
        elif change.after not in stayed or change.balance <= 0:
            yield change


def _takes_place(change: Change) -> bool:
    """Return whether a change says that an instruction is elsewhere or gone."""
    if change.after is None:
        return change.balance < 0
    return change.kind in {Kind.CLONED, Kind.HOISTED, Kind.MOVED} and not change.balance


def _has_stayed(matching: Matching, change: Change, live: Collection[str]) -> bool:
    """Return whether a leftover is an instruction that the module before has there."""
    place = change.after
    if place is None or not _is_leftover(change, live):
        return False
    former = matching.before.find(*place)
    same = former is not None and former.opcode == change.opcodes[1]
    if change.before not in {None, place}:  # told as a clone of what is equal to it
        same = _is_as_it_was(matching, place)
    return same and _of_clone(matching, change) is None


def _clone(change: Change) -> Change:
    if change.kind is Kind.HOISTED:
        return replace(change, balance=1)
    kind = Kind.CLONED
    details = tuple(detail for detail in change.details if isinstance(detail, CopyPlace))
    return replace(change, kind=kind, kinds=(kind,), details=details, numbering=False, balance=1)


def _of_clone(matching: Matching, change: Change) -> Change | None:
    """Return the cloning of a line whose computation is left, and continues as its clone."""
    place = change.after
    partner = None if place is None else matching.partner_after(place)
    if place is None or partner is None or partner.computation == place.computation:
        return None
    before, after = matching.before.find(*place), matching.after.find(*place)
    if before is None or after is None or before.opcode != after.opcode:
        return None
    if matching.computations.get(place.computation) != partner.computation:
        return None
    return replace(
        change,
        kind=Kind.COPIED,
        kinds=(Kind.COPIED, Kind.CLONED),
        before=place,
        after=partner,
        grade=Grade.MATCHED,
        reason=f"%{partner.computation} is called instead of %{place.computation}",
        opcodes=(after.opcode, after.opcode),
        details=(),
        numbering=False,
        members=(),
    )


def _is_leftover(change: Change, live: Collection[str]) -> bool:
    return change.balance > 0 and change.after is not None and change.after.computation not in live


def as_leftover(change: Change) -> Change:
    """Return an addition as one to a computation that no live instruction calls."""
    return replace(
        change,
        kind=Kind.LEFTOVER,
        kinds=(Kind.LEFTOVER,),
        before=None,
        grade=Grade.EXACT,
        reason="no live computation calls its computation",
        opcodes=("", change.opcodes[1]),
        details=(),
        numbering=False,
        members=(),
    )
