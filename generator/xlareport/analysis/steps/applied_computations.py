"""Computations that instructions apply, such as reducers: added or removed as a whole."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.refinements import as_leftover
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

_ADDED = frozenset({Kind.ADDED, Kind.PARAMETER, Kind.UNTRACED})
_REMOVED = frozenset({Kind.ARGUMENT, Kind.REMOVED, Kind.UNTRACED})


def with_applied_computations(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; a computation that an instruction applies is added or removed as a whole.

    An added one that only dead instructions apply has no live callers.
    """
    rows = list(changes)
    added = _places(change.after for change in rows if change.kind in _ADDED)
    removed = _places(change.before for change in rows if change.kind in _REMOVED)
    continued = {*matching.computations, *matching.computations.values()}
    continued |= matching.before.by_name.keys() & matching.after.by_name.keys()
    new = _whole(matching.after, added, continued)
    old = _whole(matching.before, removed, continued)
    rows = [_defined(change, new) for change in rows] if new else rows
    return [_unapplied(change, old) for change in rows] if old else rows


def _places(places: Iterable[Place | None]) -> Counter[str]:
    """Return how many of the places each computation has."""
    return Counter(place.computation for place in places if place is not None)


def _whole(
    module: HloModule, counts: Mapping[str, int], continued: Iterable[str]
) -> Mapping[str, str]:
    """Return the computations of which all instructions changed, with what applies them."""
    names = counts.keys() - {*continued}
    users = _users(module) if names else {}
    return {
        name: user
        for name, user in users.items()
        if name in names and counts[name] == len(module.by_name[name].instructions)
    }


def _users(module: HloModule) -> Mapping[str, str]:
    """Return the first live instruction that applies each computation; '' if all are dead.

    Computations that calls run are left out.
    """
    users: dict[str, str] = {}
    for name in module.calls.keys() & module.by_name.keys():
        for call in module.calls[name]:
            if call.role == "to_apply" and call.instruction.opcode != "call":
                user = call.instruction.name
                is_dead = user in dead_names(call.computation)
                users[name] = users.get(name) or ("" if is_dead else user)
    return users


def _defined(change: Change, users: Mapping[str, str]) -> Change:
    user = users.get(change.after.computation) if change.after else None
    if user is None or change.kind not in _ADDED:
        return change
    if not user:
        return as_leftover(change)
    return _as_whole(change, Kind.DEFINED, f"applied by %{user}")


def _unapplied(change: Change, users: Mapping[str, str]) -> Change:
    user = users.get(change.before.computation) if change.before else None
    if not user or change.kind not in _REMOVED:
        return change
    return _as_whole(change, Kind.UNAPPLIED, f"%{user}, which applied it")


def _as_whole(change: Change, kind: Kind, reason: str) -> Change:
    grade = Grade.MATCHED if change.kind is Kind.UNTRACED else change.grade
    kinds = (kind, *change.kinds)
    return replace(change, kind=kind, kinds=kinds, grade=grade, reason=reason)
