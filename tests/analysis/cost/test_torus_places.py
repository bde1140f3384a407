"""Places of devices in a slice, by hand and as libtpu has them."""

import pytest

from xlareport.analysis.cost.torus_places import Extent, Slice

SMALL = Slice((2, 4, 1), ())


@pytest.mark.parametrize(
    ("device", "place"), [(0, (0, 0, 0)), (1, (1, 0, 0)), (2, (0, 1, 0)), (7, (1, 3, 0))]
)
def test_the_coordinates_of_libtpu(device: int, place: tuple[int, ...]) -> None:
    """As `coords` of `jax.experimental.topologies.get_topology_desc(topology_name="v5e:2x4")`."""
    assert SMALL.place(device) == place


def test_the_assignment_says_which_device_a_partition_has() -> None:
    chips = Slice((2, 4, 1), (7, 6, 5, 4, 3, 2, 1, 0))
    assert chips.place(0) == (1, 3, 0)
    assert chips.holds(8)
    assert not Slice((2, 4, 1), (8, 9, 10, 11, 12, 13, 14, 15)).holds(8)
    assert not SMALL.holds(4)


@pytest.mark.parametrize(
    ("group", "extents"),
    [
        ((0, 1, 2, 3), (Extent(2, 1, is_whole=True), Extent(2, 1, is_whole=False))),
        ((0, 2, 4, 6), (Extent(4, 1, is_whole=True),)),
        ((0, 4), (Extent(2, 2, is_whole=True),)),
        ((1, 5, 0, 4), (Extent(2, 1, is_whole=True), Extent(2, 2, is_whole=True))),
        ((0, 1, 2, 5), ()),
        ((0, 2, 6), ()),
    ],
)
def test_the_dimensions_of_a_group(group: tuple[int, ...], extents: tuple[Extent, ...]) -> None:
    assert SMALL.extents(group) == extents


def test_the_busiest_link() -> None:
    line = (False, False, False)
    assert SMALL.busiest_link([(0, 1), (1, 0), (2, 3)], line) == 1
    assert SMALL.busiest_link([(0, 4), (2, 6)], line) == 2
    assert SMALL.busiest_link([(0, 0)], line) == 0
    around = [(0, 2), (2, 4), (4, 6), (6, 0)]
    assert SMALL.busiest_link(around, line) == 1
    assert Slice((4, 1, 1), ()).busiest_link([(0, 3), (1, 0)], (True, False, False)) == 1
