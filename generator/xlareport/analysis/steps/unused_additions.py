"""Additions that no live instruction uses: they have no effect, and a later pass removes them."""

from collections.abc import Iterable

from msgspec.structs import replace

from xlareport.analysis.matching.account.additions import DEAD, IDLE
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind

_NEW = frozenset({Kind.ADDED, Kind.FUSED, Kind.OUTLINED})


def with_unused_additions(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; an addition that no live instruction uses says so."""
    return [
        _unused(matching, change) if _is_unused(matching, change) else change for change in changes
    ]


def _is_unused(matching: Matching, change: Change) -> bool:
    """Return whether what is new, or a clone beside its original, has no live users."""
    if change.after is None or not (change.kind in _NEW or _is_beside(matching, change)):
        return False
    dead = dead_names(matching.after.by_name[change.after.computation])
    return change.after.instruction in dead and not _were_dead(matching, change.members)


def _were_dead(matching: Matching, held: Iterable[Place]) -> bool:
    """Return whether all that a new fusion or call holds had no live users before.

    Such are fused as others are, in their place.
    """
    named = [
        place.instruction in dead_names(matching.before.by_name[place.computation])
        for place in held
    ]
    return bool(named) and all(named)


def _is_beside(matching: Matching, change: Change) -> bool:
    """Return whether a change is a clone in the computation that its original is in."""
    before, after = change.before, change.after
    if change.kind is not Kind.CLONED or before is None or after is None:
        return False
    home = matching.computations.get(before.computation, before.computation)
    return change.balance > 0 and home == after.computation


def _unused(matching: Matching, change: Change) -> Change:
    place = change.after
    is_read = place and place.instruction in matching.after.by_name[place.computation].users
    return replace(
        change,
        kind=Kind.UNUSED,
        kinds=(Kind.UNUSED,),
        before=None,
        opcodes=("", change.opcodes[1]),
        details=(),
        reason=DEAD if is_read else IDLE,
        members=(),
    )
