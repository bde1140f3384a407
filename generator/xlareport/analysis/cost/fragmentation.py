"""How full allocations get: what they hold at the fullest moment, beside what they reserve.

The rest is lost to fragmentation and alignment: room that nothing uses at that moment, because
values that live at other times lie across it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from xlareport.analysis.cost.residency import BufferKey
from xlareport.readers.buffer_assignment import Allocation, BufferAssignment, BufferValue
from xlareport.readers.live_range import LiveRange, LiveRanges

_MOMENTS = 32
"""Moments that are looked at closely: those at which values add up to most."""
_Lives = tuple[LiveRange, BufferValue]


@dataclass(frozen=True, slots=True)
class Fill:
    """One allocation at its fullest."""

    allocation: Allocation
    used: int
    """Bytes that hold a living value then; at least, for only some moments are looked at."""
    position: int
    """The moment, in the schedule."""

    @property
    def lost(self) -> int:
        """Bytes that hold nothing even then; at most."""
        return max(0, self.allocation.size - self.used)


def measure_fills(assignment: BufferAssignment, live: LiveRanges) -> tuple[Fill, ...]:
    """Return how full each allocation gets that several values share, the most lost first."""
    ranges = {(live_range.instruction, live_range.index): live_range for live_range in live.ranges}
    shared = (allocation for allocation in assignment.allocations if len(allocation.values) > 1)
    fills = [
        _fill(allocation, ranges)
        for allocation in shared
        if not (allocation.is_constant or allocation.is_thread_local)
    ]
    known = [fill for fill in fills if fill is not None]
    return tuple(sorted(known, key=lambda fill: (-fill.lost, fill.allocation.index)))


def _fill(allocation: Allocation, ranges: Mapping[BufferKey, LiveRange]) -> Fill | None:
    keyed = ((ranges.get((value.instruction, value.index)), value) for value in allocation.values)
    lives = [(life, value) for life, value in keyed if life is not None]
    if not lives:
        return None
    used, position = max(
        ((_covered(lives, moment), moment) for moment in _busiest(lives)),
        key=lambda pair: (pair[0], -pair[1]),
    )
    return Fill(allocation, used, position)


def _busiest(lives: list[_Lives]) -> list[int]:
    """Return the moments at which values begin and add up to most."""
    changes: Counter[int] = Counter()
    for life, value in lives:
        changes[life.start] += value.size
        changes[life.end + 1] -= value.size
    moments = sorted(changes)
    sums = accumulate(changes[moment] for moment in moments)
    ranked = sorted(zip(sums, moments, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return [moment for _, moment in ranked[:_MOMENTS]]


def _covered(lives: list[_Lives], moment: int) -> int:
    """Return the bytes that some living value lies on; those that share a place count once."""
    there = sorted(
        (value.offset, value.offset + value.size)
        for life, value in lives
        if life.start <= moment <= life.end
    )
    covered = reached = 0
    for start, end in there:
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered
