"""New computations that instructions apply, such as reducers: changes of a whole computation."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.refinements import as_leftover
from xlareport.hlo.model import HloModule

_ADDED = frozenset({Kind.ADDED, Kind.PARAMETER})


def with_added_computations(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; a new computation that an instruction applies is added as a whole.

    One that only dead instructions apply has no live callers.
    """
    rows = list(changes)
    counts = Counter(
        change.after.computation for change in rows if change.kind in _ADDED and change.after
    )
    continued = {*matching.computations.values(), *matching.before.by_name}
    users = _users(matching.after) if counts.keys() - continued else {}
    wholes = {
        name: user
        for name, user in users.items()
        if name not in continued and counts[name] == len(matching.after.by_name[name].instructions)
    }
    return [_defined(change, wholes) for change in rows] if wholes else rows


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
    kinds = (Kind.DEFINED, *change.kinds)
    return replace(change, kind=Kind.DEFINED, kinds=kinds, reason=f"applied by %{user}")
