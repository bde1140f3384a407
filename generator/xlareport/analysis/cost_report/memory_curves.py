"""The memory in use over the schedule: its curve, the values in it, where it is near its peak."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from xlareport.analysis.cost.occupancy import Occupancy
from xlareport.hlo.model import HloModule
from xlareport.readers.buffer_assignment import BufferAssignment
from xlareport.readers.live_range import LiveRanges

_CLOSE = 0.99
"""Share of the peak."""
_NARROW = 0.02
"""Share of the schedule."""
_MOST_LOOPS = 3
_CURVE_POINTS = 400
_MOST_LIVING = 3_000


class SpaceCurve(Struct, frozen=True):
    """The bytes of one memory space in use over the schedule."""

    color: int
    curve: tuple[int, ...]
    """Evenly thinned out."""
    held: Mapping[str, int]
    """Bytes held throughout, by kind of allocation: `parameter`, `output`, `constant`."""
    position: int
    """The first at which the most is in use."""
    at: str
    """The instruction scheduled there; empty at the end of the run."""


class LivingValue(Struct, frozen=True):
    """A place of the device memory that is in use for a while."""

    name: str
    size: int
    kind: str
    start: int
    end: int
    """Positions, both included."""
    argument: str
    """The framework's name of an entry parameter; empty for others."""


def thin_curve(curve: tuple[int, ...]) -> tuple[int, ...]:
    """Return a limited number of points, each the maximum of its range, so the peak is kept."""
    stretch = -(-len(curve) // _CURVE_POINTS) or 1
    return tuple(max(curve[at : at + stretch]) for at in range(0, len(curve), stretch))


def find_space_curves(occupancy: Occupancy, schedule: Sequence[str]) -> Iterator[SpaceCurve]:
    """Yield the curve of each memory space, by number."""
    for color, curve in sorted(occupancy.curves.items()):
        position = curve.index(max(curve))
        at = schedule[position] if position < len(schedule) else ""
        yield SpaceCurve(color, thin_curve(curve), occupancy.held.get(color, {}), position, at)


def list_living_values(occupancy: Occupancy, arguments: Mapping[str, str]) -> Iterator[LivingValue]:
    """Yield the largest values in the device memory, each with its live range.

    `arguments` has the names of entry parameters by instruction.
    """
    largest = sorted(occupancy.slots, key=lambda slot: (-slot.size, slot.start, slot.key))
    for slot in largest[:_MOST_LIVING]:
        name, index = slot.key
        whole = f"{name}{{{','.join(map(str, index))}}}" if index else name
        kind, argument = slot.allocation.kind, "" if index else arguments.get(name, "")
        yield LivingValue(whole, slot.size, kind, slot.start, slot.end, argument)


class PeakPlateau(Struct, frozen=True):
    """Successive positions within 1% of the peak, which no instruction alone causes."""

    first: int
    last: int
    """Positions in the schedule, included."""
    loops: tuple[str, ...]
    """While instructions that run there, else the innermost that runs around it."""
    elsewhere: int = 0
    """Number of positions apart from these within 1% of the peak."""


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
    elsewhere = sum(size >= least for size in curve) - (last - first + 1)
    return PeakPlateau(first, last, within or _innermost_around(first, last, spans), elsewhere)


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
    for instruction in module.instructions:
        if instruction.opcode != "while" or instruction.name not in places:
            continue
        inside = [
            places[line.name]
            for part in module.callees(instruction)
            for line in part.instructions
            if line.name in places
        ]
        end = places[instruction.name]
        yield instruction.name, (min(inside, default=end), end)


class LiveSum(Struct, frozen=True):
    """Where the ranges of the live-range file add up to the most."""

    position: int
    """The first such position."""
    bytes: int


def find_largest_live_sum(
    live: LiveRanges | None, assignment: BufferAssignment | None
) -> LiveSum | None:
    """Return the largest sum of the sizes of live values, each counted in full.

    None unless the sum at the position that the file marks is the one that the file gives: only
    then are the sizes those that the file adds.
    """
    if live is None or assignment is None or live.peak_position is None:
        return None
    sizes = {
        (value.instruction, value.index): value.size
        for allocation in assignment.allocations
        for value in allocation.values
    }
    changes: Counter[int] = Counter()
    for item in live.ranges:
        size = sizes.get((item.instruction, item.index), 0)
        changes[item.start] += size
        changes[item.end + 1] -= size
    sums = list(accumulate(changes[position] for position in range(max(changes, default=0) + 1)))
    marked = live.peak_position
    if marked >= len(sums) or sums[marked] != live.peak_bytes:
        return None
    most = max(sums)
    return LiveSum(sums.index(most), most)
