"""Clones that took the place of their originals: in effect, these were moved or replaced."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import OfCopy, Past, PastBroadcast
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.details import CopyPlace, Difference
from xlareport.analysis.steps.kinds import Kind

_DEAD_ORIGINAL = "the original has no live users"


def with_moved_clones(changes: Iterable[Change]) -> list[Change]:
    """Return the changes; the only clone of an instruction that lost its users is that, moved.

    Passes write `reduce(negate(x))` as `negate(reduce(x))` and leave the dead negate to a later
    pass. That it has no users is told with its move, and not once more.
    """
    rows = list(changes)
    left = {change.before for change in rows if change.kind is Kind.LEFT}
    clones = Counter(change.before for change in rows if change.kind is Kind.CLONED)
    alone = {place for place in left if clones[place] == 1}
    moves = [_as_move(change, alone) or _as_replaced(change, left) for change in rows]
    moved = {move.before for move in moves if move is not None}
    return _with_successors(
        [
            move or change
            for change, move in zip(rows, moves, strict=True)
            if change.kind is not Kind.LEFT or change.before not in moved
        ]
    )


def _with_successors(rows: Sequence[Change]) -> list[Change]:
    """Return the changes; what took the place of an original that is left is the new one of both.

    The original says what that is, and has not become it.
    """
    left = {change.before: change for change in rows if _is_left_beside(change)}
    successors = {
        change.before: change
        for change in rows
        if change.before in left and change.before != change.after is not None
        if not change.balance and change.opcodes[0] == change.opcodes[1]
    }
    return [
        replace(change, balance=1)
        if successors.get(change.before) is change
        else _with_successor(change, successors[change.before].after)
        if left.get(change.before) is change and change.before in successors
        else change
        for change in rows
    ]


def _is_left_beside(change: Change) -> bool:
    """Return whether an original is left that counts as one instruction more."""
    return change.kind is Kind.LEFT and change.balance > 0 and change.before == change.after


def _with_successor(left: Change, successor: Place | None) -> Change:
    name = "" if successor is None else f"%{successor.instruction} took its place"
    return replace(left, balance=0, details=left.details or (name,))


def _as_move(change: Change, alone: set[Place | None]) -> Change | None:
    reason = change.reason
    if change.kind is not Kind.CLONED or change.before not in alone:
        return None
    if not isinstance(reason, Past | PastBroadcast):
        return None
    return replace(
        change,
        kind=Kind.SWAPPED,
        kinds=(Kind.SWAPPED,),
        reason=replace(reason, of_copy=False),
        details=(_with_shape(change.details),),
    )


def _as_replaced(change: Change, left: Collection[Place | None]) -> Change | None:
    if not isinstance(change.reason, OfCopy) or change.before not in left:
        return None
    if change.kind not in (Kind.CLONED, Kind.REPLACED):
        return None
    details = (*change.details, _DEAD_ORIGINAL)
    return replace(change, kind=Kind.REPLACED, kinds=(Kind.REPLACED,), details=details)


def _with_shape(details: tuple[Difference, ...]) -> Difference:
    place = details[0] if details else None
    if not isinstance(place, CopyPlace):
        return _DEAD_ORIGINAL
    return replace(place, where="", more=f"; {_DEAD_ORIGINAL}")
