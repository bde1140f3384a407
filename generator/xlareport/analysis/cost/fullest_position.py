"""The fullest moment by the live ranges, where the file marks another one as the peak.

On TPUs the mark can stand long before it: in modules that were rematerialised, the values that live
at the mark came to a fifth of what the same file's ranges add up to later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.cost.residency import BufferKey
from xlareport.readers.live_range import LiveBuffer, LiveRanges

_MORE = 1.25
"""How much more must live than at the mark: values that share memory count each."""
_ROOM = 0.95
"""Which part of it the allocations must have room for."""


@dataclass(frozen=True, slots=True)
class Fullest:
    """When the most lives, added up from the live ranges."""

    position: int
    size: int
    """Bytes, each value by itself."""
    living: tuple[LiveBuffer, ...]


def find_fullest_position(
    live: LiveRanges, sizes: Mapping[BufferKey, int], curve: Sequence[int], reserved: int | None
) -> Fullest | None:
    """Return the fullest moment; None where the file's mark will do, or the memory has no room."""
    most = max(curve, default=0)
    if not most or live.peak_bytes is None or most < _MORE * live.peak_bytes:
        return None
    if reserved is None or reserved < _ROOM * most:
        return None
    position = curve.index(most)
    living = [
        LiveBuffer(
            live_range.instruction,
            live_range.index,
            sizes[live_range.instruction, live_range.index],
        )
        for live_range in live.ranges
        if live_range.start <= position <= live_range.end
        and (live_range.instruction, live_range.index) in sizes
    ]
    return Fullest(position, most, tuple(living))
