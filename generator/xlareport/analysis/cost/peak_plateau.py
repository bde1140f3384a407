"""The stretch of the schedule in which memory in use is close to its peak, and the loops there."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.hlo.model import HloModule

_CLOSE = 0.99
"""Share of the peak."""
_NARROW = 0.02
"""Share of the schedule."""
_MOST_LOOPS = 3


class PeakPlateau(Struct, frozen=True):
    """Successive positions within 1% of the peak, which no instruction alone causes."""

    first: int
    last: int
    """Positions in the schedule, included."""
    loops: tuple[str, ...]
    """While instructions that run there, else the innermost that runs around it."""


def find_plateau(
    curve: Sequence[int], position: int, module: HloModule, schedule: Sequence[str]
) -> PeakPlateau | None:
    """Return the plateau around the peak.

    None if memory rises by 1% or more at the position of the peak, whose instruction is then the
    cause, and for a few positions that no loop runs in.
    """
    if not curve or (position and curve[position - 1] < curve[position] * _CLOSE):
        return None
    least = curve[position] * _CLOSE
    first, last = position, position
    while first and curve[first - 1] >= least:
        first -= 1
    while last + 1 < len(curve) and curve[last + 1] >= least:
        last += 1
    spans = dict(_spans(module, {name: place for place, name in enumerate(schedule)}))
    within = _outermost_within(first, last, spans)
    if last - first < max(1, _NARROW * len(curve)) and not within:
        return None
    return PeakPlateau(first, last, within or _innermost_around(first, last, spans))


def _outermost_within(
    first: int, last: int, spans: Mapping[str, tuple[int, int]]
) -> tuple[str, ...]:
    within = [name for name, (start, end) in spans.items() if first <= start and end <= last]
    ends = [spans[name] for name in within]
    outermost = [
        name
        for name in within
        if not any(low <= spans[name][0] and spans[name][1] < high for low, high in ends)
    ]
    return tuple(sorted(outermost, key=spans.__getitem__)[:_MOST_LOOPS])


def _innermost_around(
    first: int, last: int, spans: Mapping[str, tuple[int, int]]
) -> tuple[str, ...]:
    around = [name for name, (start, end) in spans.items() if start <= first and last <= end]
    return tuple(sorted(around, key=lambda name: spans[name][1] - spans[name][0])[:1])


def _spans(module: HloModule, places: Mapping[str, int]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield loops with the positions from the first instruction that they run to their own."""
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.opcode != "while" or instruction.name not in places:
                continue
            called = (module.by_name.get(name) for _, name in instruction.called)
            inside = [
                places[line.name]
                for part in called
                if part is not None
                for line in part.instructions
                if line.name in places
            ]
            end = places[instruction.name]
            yield instruction.name, (min(inside, default=end), end)
