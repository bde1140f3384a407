"""The sum of logical sizes over the ranges of the live-range file, at each position."""

from collections import Counter
from itertools import accumulate

from msgspec import Struct

from xlareport.readers.buffer_assignment import BufferAssignment
from xlareport.readers.live_range import LiveRanges


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
