from msgspec.structs import replace

from xlareport.analysis.cost_report.memory_curves import (
    LiveSum,
    PeakPlateau,
    find_largest_live_sum,
    find_plateau,
)
from xlareport.hlo.text import TextReader
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
MODULE = TextReader().read(
    b"""HloModule m, is_scheduled=true

body {
  state = s32[] parameter(0)
  ROOT next = s32[] negate(state)
}

condition {
  tested = s32[] parameter(0)
  ROOT less = pred[] constant(false)
}

ENTRY e {
  a = s32[] constant(0)
  loop = s32[] while(a), condition=condition, body=body
  ROOT r = s32[] negate(loop)
}
""",
    "m.txt",
)
SCHEDULE = ("a", "tested", "less", "state", "next", "loop", "r")


def plateau(*curve: int) -> PeakPlateau | None:
    assert MODULE is not None
    return find_plateau(curve, curve.index(max(curve)), MODULE, SCHEDULE)


def test_an_instruction_that_raises_memory_is_the_cause() -> None:
    assert plateau(0, 500, 500, 1000, 1000, 500, 0) is None
    assert plateau(1) is None


def test_positions_close_to_the_peak_with_the_loop_that_runs_there() -> None:
    assert plateau(0, 995, 995, 1000, 995, 995, 0) == PeakPlateau(1, 5, ("loop",))
    assert plateau(0, 995, 995, 1000, 500, 995, 0) == PeakPlateau(1, 3, ("loop",), 1)


def test_memory_that_is_held_throughout_has_no_instruction() -> None:
    assert plateau(1000, 1000) == PeakPlateau(0, 1, ())


def test_two_positions_of_a_long_schedule_are_no_plateau() -> None:
    assert plateau(*[0] * 200, 995, 1000, *[0] * 200) is None
    assert plateau(*[0] * 200, *[1000] * 20, *[0] * 200) is None
    assert plateau(*[0] * 200, *[995] * 20, 1000, *[0] * 200) == PeakPlateau(200, 220, ())


def test_no_loop_is_named_that_runs_elsewhere() -> None:
    assert plateau(0, 0, 0, 0, 0, 995, 1000) == PeakPlateau(5, 6, ())


def test_the_mark_of_the_file_may_be_at_a_smaller_sum() -> None:
    assert find_largest_live_sum(LIVE, ASSIGNMENT) == LiveSum(1, 80)


def test_nothing_is_known_where_the_sizes_are_not_those_of_the_file() -> None:
    assert find_largest_live_sum(replace(LIVE, peak_bytes=50), ASSIGNMENT) is None
    assert find_largest_live_sum(replace(LIVE, peak_position=9), ASSIGNMENT) is None
    assert find_largest_live_sum(replace(LIVE, peak_position=None), ASSIGNMENT) is None
    assert find_largest_live_sum(LIVE, None) is None
