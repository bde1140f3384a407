"""Replica groups are told by the axes of the mesh that the framework named."""

import pytest
from msgspec.structs import replace

from xlareport.pages.collectives.replica_groups import _lay_out, find_group_axes, find_pair_axes
from xlareport.records.shardings import AxisRecord, MeshRecord

MESH = MeshRecord(
    (AxisRecord("fsdp", 2), AxisRecord("tensor", 4)), tuple(range(8)), "x", named=True
)


@pytest.mark.parametrize(
    ("groups", "axes"),
    [
        ([(0, 1, 2, 3), (4, 5, 6, 7)], ("tensor",)),
        ([(4, 0), (1, 5), (2, 6), (3, 7)], ("fsdp",)),
        ([tuple(range(8))], ("fsdp", "tensor")),
        ([(0, 1), (2, 3), (4, 5), (6, 7)], ()),
        ([(0, 1, 2, 3)], ()),
        ([], ()),
    ],
)
def test_axes_of_groups(groups: list[tuple[int, ...]], axes: tuple[str, ...]) -> None:
    assert find_group_axes(groups, MESH) == axes


def test_devices_of_a_mesh_stand_in_its_order() -> None:
    mesh = replace(MESH, devices=(0, 2, 4, 6, 1, 3, 5, 7))
    assert find_group_axes([(0, 2, 4, 6), (1, 3, 5, 7)], mesh) == ("tensor",)


def test_axes_without_names_and_meshes_without_devices_tell_nothing() -> None:
    groups = [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert find_group_axes(groups, replace(MESH, named=False)) == ()
    assert find_group_axes(groups, replace(MESH, devices=())) == ()
    assert find_group_axes(groups, None) == ()


@pytest.mark.parametrize(
    ("pairs", "axes"),
    [
        ([(0, 1), (1, 2), (4, 5), (5, 6)], ("tensor",)),
        ([(0, 4), (4, 0), (1, 5), (1, 1)], ("fsdp",)),
        ([(0, 5), (5, 0)], ("fsdp", "tensor")),
        ([(0, 1), (0, 4)], ()),
        ([(0, 0)], ()),
        ([(0, 9)], ()),
        ([], ()),
    ],
)
def test_axes_of_pairs(pairs: list[tuple[int, int]], axes: tuple[str, ...]) -> None:
    assert find_pair_axes(pairs, MESH) == axes
    assert find_pair_axes(pairs, None) == ()


def test_devices_are_drawn_on_the_mesh_of_the_program() -> None:
    assert _lay_out([], 8, MESH) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    turned = replace(MESH, devices=(0, 2, 4, 6, 1, 3, 5, 7))
    assert _lay_out([], 8, turned) == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert _lay_out([], 4, None) == [[0, 1, 2, 3]]
