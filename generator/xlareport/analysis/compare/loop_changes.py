"""Loops with another trip count in the head, and the time of their additional runs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.compare.operations import OperationKey, key_of
from xlareport.analysis.cost.loops import Loops
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import HloModule, InstructionKey

_MOST = 200
"""Limit on loops of a module; with more, none is compared."""


class ComparedLoop(Struct, frozen=True):
    """A while of a module."""

    name: str
    key: OperationKey
    trip_count: int | None
    """None if unknown."""
    outer: tuple[str, ...] = ()
    """Names of the loops that contain it."""
    seconds: float = 0.0
    """Roofline seconds in one run of the module; 0 if the cost was not given."""
    bytes: int = 0
    """Bytes accessed in one run of the module."""


class TripChange(Struct, frozen=True):
    """Loops that run `head` instead of `base` times, as the base and as the head has them."""

    base: int
    head: int
    loops: tuple[tuple[ComparedLoop, ComparedLoop], ...]


def compared_loops(
    module: HloModule,
    cost: ModuleCost | None = None,
    seconds: Mapping[InstructionKey, float] | None = None,
) -> tuple[ComparedLoop, ...]:
    """Return the loops of a module; with `cost` and `seconds`, including their costs."""
    trip_counts, place = Loops(module), places_of(module)
    whiles = [
        (computation, instruction)
        for computation, instruction in module.placed
        if instruction.opcode == "while"
    ][: _MOST + 1]
    if len(whiles) > _MOST:
        return ()
    bodies = [called_computations(module, [loop]) for _, loop in whiles]
    spent = _spent_by_computation(module, cost, seconds or {})
    loops = []
    for (computation, loop), body in zip(whiles, bodies, strict=True):
        where = place(loop)
        within = [spent[name] for name in sorted(body) if name in spent]
        around = zip(whiles, bodies, strict=True)
        loops.append(
            ComparedLoop(
                name=loop.name,
                key=key_of(op_name_of(loop, module), where.short if where else ""),
                trip_count=trip_counts.trip_count(computation, loop).count,
                outer=tuple(loop.name for (_, loop), inner in around if computation.name in inner),
                seconds=sum(time for time, _ in within),
                bytes=sum(size for _, size in within),
            )
        )
    return tuple(loops)


def time_iteration(loops: Sequence[ComparedLoop]) -> float:
    """Return the seconds of an iteration of each outermost loop of unknown trip count, summed."""
    unknown = {loop.name for loop in loops if loop.trip_count is None}
    return sum(
        loop.seconds for loop in loops if loop.name in unknown and unknown.isdisjoint(loop.outer)
    )


def _spent_by_computation(
    module: HloModule, cost: ModuleCost | None, seconds: Mapping[InstructionKey, float]
) -> dict[str, tuple[float, int]]:
    """Return seconds and bytes accessed of all runs of each computation."""
    if cost is None:
        return {}
    spent = {}
    for computation in module.computations:
        keys = [(computation.name, instruction.name) for instruction in computation.instructions]
        costs = [cost.instructions[key] for key in keys if key in cost.instructions]
        moved = sum(cost.of_all_runs(cost.bytes_accessed) or 0 for cost in costs)
        spent[computation.name] = sum(seconds.get(key, 0.0) for key in keys), moved
    return spent


def find_trip_changes(
    base: Sequence[ComparedLoop], head: Sequence[ComparedLoop]
) -> tuple[TripChange, ...]:
    """Return the trip counts that are known and differ, those of most loops first."""
    changes: dict[tuple[int, int], list[tuple[ComparedLoop, ComparedLoop]]] = defaultdict(list)
    for ours, theirs in _pair_loops(base, head):
        old, new = ours.trip_count, theirs.trip_count
        if old is not None and new is not None and old != new:
            changes[old, new].append((ours, theirs))
    differing = (TripChange(old, new, tuple(pairs)) for (old, new), pairs in changes.items())
    return tuple(sorted(differing, key=lambda change: -len(change.loops)))


def _pair_loops(
    base: Sequence[ComparedLoop], head: Sequence[ComparedLoop]
) -> Iterator[tuple[ComparedLoop, ComparedLoop]]:
    """Pair loops by op_name and source line, then by op_name, where the counts are equal."""
    for by_line in (True, False):
        ours, theirs = _by_key(base, by_line=by_line), _by_key(head, by_line=by_line)
        paired = [key for key in ours if len(ours[key]) == len(theirs.get(key, ()))]
        for key in paired:
            yield from zip(ours[key], theirs[key], strict=True)
        base = [loop for key, loops in ours.items() if key not in paired for loop in loops]
        head = [loop for key, loops in theirs.items() if key not in paired for loop in loops]


def _by_key(
    loops: Sequence[ComparedLoop], *, by_line: bool
) -> dict[tuple[str, ...], list[ComparedLoop]]:
    """Return the loops by the key that is the same in two compilations, in order."""
    groups: dict[tuple[str, ...], list[ComparedLoop]] = defaultdict(list)
    for loop in loops:
        key = loop.key
        groups[key.phase, key.scope, key.op, key.line if by_line else ""].append(loop)
    return groups


def find_time_in_trips(
    base: Sequence[ComparedLoop], head: Sequence[ComparedLoop], change: TripChange
) -> tuple[float, int] | None:
    """Return the change in seconds and bytes of a module that the changed trip count causes.

    `base` and `head` are the loops of the final modules. None if these do not have loops with the
    given trip counts, for example after unrolling, or if one contains another.
    """
    final = [
        pair
        for trip_change in find_trip_changes(base, head)
        if (trip_change.base, trip_change.head) == (change.base, change.head)
        for pair in trip_change.loops
    ]
    names = {theirs.name for _, theirs in final}
    if len(final) != len(change.loops) or any(names & {*theirs.outer} for _, theirs in final):
        return None
    grows = change.head > change.base
    part = abs(change.head - change.base) / max(change.head, change.base)
    longer = [theirs if grows else ours for ours, theirs in final]
    sign = 1 if grows else -1
    moved = sum(loop.bytes for loop in longer)
    return sign * part * sum(loop.seconds for loop in longer), round(sign * part * moved)
