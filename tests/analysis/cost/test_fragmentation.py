from xlareport.analysis.cost.fragmentation import measure_fills
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRange, LiveRanges

TEXT = b"""BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:
 value: <1 x @0> (size=64,offset=0): f32[16]{0}
allocation 1: size 128, preallocated-temp:
 value: <2 y @0> (size=32,offset=0): f32[8]{0}
 value: <3 z @0> (size=32,offset=64): f32[8]{0}
 value: <4 same @0> (size=32,offset=64): f32[8]{0}
 value: <5 w @0> (size=64,offset=64): f32[16]{0}
"""


def test_an_allocation_at_its_fullest() -> None:
    assignment, _ = read_buffer_assignment(TEXT, "b.txt")
    live = LiveRanges(
        ranges=(
            LiveRange("y", (), 0, 2),
            LiveRange("z", (), 1, 2),
            LiveRange("same", (), 1, 2),
            LiveRange("w", (), 3, 4),
        )
    )
    (found,) = measure_fills(assignment, live)
    assert found.allocation.index == 1, "what one value has alone is not shared"
    assert (found.used, found.lost, found.position) == (64, 64, 1), "a shared place counts once"


def test_values_whose_life_is_not_known_are_left_out() -> None:
    assignment, _ = read_buffer_assignment(TEXT, "b.txt")
    assert measure_fills(assignment, LiveRanges()) == ()
