from msgspec.structs import replace

from xlareport.analysis.cost.live_sum import LiveSum, find_largest_live_sum
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRange, LiveRanges

ASSIGNMENT, _ = read_buffer_assignment(
    b"""BufferAssignment:
allocation 0: size 80, preallocated-temp:
 value: <1 x @0> (size=64,offset=0): f32[16]{0}
 value: <2 y @0> (size=16,offset=64): f32[4]{0}
 value: <3 z @0> (size=32,offset=0): f32[8]{0}
""",
    "b.txt",
)
LIVE = LiveRanges(
    schedule=("x", "y", "z"),
    ranges=(LiveRange("x", (), 0, 1), LiveRange("y", (), 1, 2), LiveRange("z", (), 2, 3)),
    peak_position=2,
    peak_bytes=48,
)


def test_the_mark_of_the_file_may_be_at_a_smaller_sum() -> None:
    assert find_largest_live_sum(LIVE, ASSIGNMENT) == LiveSum(1, 80)


def test_nothing_is_known_where_the_sizes_are_not_those_of_the_file() -> None:
    assert find_largest_live_sum(replace(LIVE, peak_bytes=50), ASSIGNMENT) is None
    assert find_largest_live_sum(replace(LIVE, peak_position=9), ASSIGNMENT) is None
    assert find_largest_live_sum(replace(LIVE, peak_position=None), ASSIGNMENT) is None
    assert find_largest_live_sum(LIVE, None) is None
