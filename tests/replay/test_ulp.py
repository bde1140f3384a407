"""Distances in units in the last place."""

import struct

import pytest

from xlareport.replay.ulp import epsilon, ulp_distance


def bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        (1.0, 1.0, 0),
        (0.0, -0.0, 0),
        (1.0, 1.0 + 2**-23, 1),
        (2.0, 2.0 - 2**-23, 1),
        (-1.0, -1.0 - 2**-22, 2),
        (2**-149, -(2**-149), 2),
        (1.0, 2.0, 1 << 23),
    ],
)
def test_floats_between_two(first: float, second: float, distance: int) -> None:
    assert ulp_distance(bits(first), bits(second), 32) == distance
    assert ulp_distance(bits(second), bits(first), 32) == distance


def test_the_precision_of_types() -> None:
    assert epsilon("float32") == 2**-23
    assert epsilon("int32") == 0
