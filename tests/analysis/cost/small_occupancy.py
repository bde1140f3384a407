"""A buffer assignment with its live ranges, small enough to count by hand."""

from xlareport.readers.live_range import LiveRange, LiveRanges

TEXT = b"""BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:
 value: <1 x @0> (size=64,offset=0): f32[16]{0}
allocation 1: size 128, preallocated-temp:
 value: <2 y @0> (size=32,offset=0): f32[8]{0}
 value: <3 z @0> (size=32,offset=64): f32[8]{0}
 value: <4 same @0> (size=32,offset=64): f32[8]{0}
 value: <5 w @0> (size=64,offset=64): f32[16]{0}
allocation 2: size 8, color 1, preallocated-temp:
 value: <6 v @1> (size=8,offset=0): f32[2]{0:S(1)}
allocation 3: size 4, thread-local:
"""


LIVE = LiveRanges(
    schedule=("x", "y", "z", "same", "w"),
    ranges=(
        LiveRange("x", (), 0, 1),
        LiveRange("y", (), 0, 2),
        LiveRange("z", (), 1, 2),
        LiveRange("same", (), 1, 3),
        LiveRange("w", (), 3, 4),
        LiveRange("v", (), 4, 5),
    ),
)
