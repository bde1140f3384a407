"""What would have to shrink for the peak of memory to come down by some part."""

from collections.abc import Mapping
from dataclasses import dataclass

from xlareport.analysis.cost.residency import BufferKey, trace_residency
from xlareport.readers.live_range import LiveRange, LiveRanges

_MOST_BUFFERS = 200


@dataclass(frozen=True, slots=True)
class Saving:
    """Buffers without which the peak would be lower; the schedule staying as it is."""

    peak: int
    """The most that lives at once, in bytes."""
    wanted: int
    """The peak that was asked for, in bytes."""
    reached: int
    """The peak without the buffers, in bytes."""
    buffers: tuple[tuple[BufferKey, int], ...]
    """(buffer, bytes) in the order chosen: each the largest where the most lived then."""

    @property
    def is_enough(self) -> bool:
        """Whether the peak comes down to what was wanted."""
        return self.reached <= self.wanted


def find_savings(
    live: LiveRanges, sizes: Mapping[BufferKey, int], share: float, kept: frozenset[str]
) -> Saving:
    """Choose buffers one by one, each the largest where the most lives, until the peak is down.

    `share` is the part of the peak to save, 0 to 1. `kept` names instructions whose buffers cannot
    shrink, such as parameters. The estimate leaves the schedule and all sharing as they are.
    """
    curve = list(trace_residency(live, sizes))
    peak = max(curve, default=0)
    wanted = int(peak * (1 - share))
    candidates = [live_range for live_range in live.ranges if live_range.instruction not in kept]
    chosen: list[tuple[BufferKey, int]] = []
    while curve and max(curve) > wanted and len(chosen) < _MOST_BUFFERS:
        largest = _largest_at(curve.index(max(curve)), candidates, sizes)
        if largest is None:
            break
        candidates.remove(largest)
        key = (largest.instruction, largest.index)
        chosen.append((key, sizes[key]))
        for position in range(largest.start, largest.end + 1):
            curve[position] -= sizes[key]
    return Saving(peak, wanted, max(curve, default=0), tuple(chosen))


def _largest_at(
    position: int, candidates: list[LiveRange], sizes: Mapping[BufferKey, int]
) -> LiveRange | None:
    alive = (
        candidate
        for candidate in candidates
        if candidate.start <= position <= candidate.end
        and sizes.get((candidate.instruction, candidate.index))
    )
    return max(
        alive, key=lambda live_range: sizes[live_range.instruction, live_range.index], default=None
    )
