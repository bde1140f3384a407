"""Drawings of meshes and of who holds which part."""

import re

from xlareport.pages.shardings.drawings import draw_holders, draw_mesh
from xlareport.records.shardings import AxisRecord, HolderRecord, MeshRecord, ShardingRecord


def cells(markup: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", markup)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def mesh(*axes: tuple[str, int], devices: tuple[int, ...]) -> MeshRecord:
    return MeshRecord(tuple(AxisRecord(*axis) for axis in axes), devices, "", named=True)


def test_a_mesh_of_two_axes() -> None:
    drawing = draw_mesh(mesh(("x", 2), ("y", 3), devices=(5, 4, 3, 2, 1, 0)))
    assert cells(drawing) == [
        ["", "y=0", "y=1", "y=2"],
        ["x=0", "5", "4", "3"],
        ["x=1", "2", "1", "0"],
    ]


def test_a_mesh_of_three_axes_and_of_one() -> None:
    drawing = draw_mesh(mesh(("x", 2), ("y", 1), ("z", 2), devices=(0, 1, 2, 3)))
    assert cells(drawing)[1:] == [["x=0 y=0", "0", "1"], ["x=1 y=0", "2", "3"]]
    assert cells(draw_mesh(mesh(("x", 2), devices=(0, 1)))) == [["x=0", "x=1"], ["0", "1"]]


def test_a_large_mesh_is_not_drawn() -> None:
    assert not draw_mesh(mesh(("x", 512), devices=()))
    assert not draw_mesh(mesh(("x", 100), devices=tuple(range(100))))


def sharding(
    tiles: tuple[int, ...], *holders: tuple[tuple[int, ...], tuple[int, ...]]
) -> ShardingRecord:
    return ShardingRecord("", "", 1, tiles, tuple(HolderRecord(*holder) for holder in holders))


def test_who_holds_which_part() -> None:
    drawing = draw_holders(
        sharding(
            (2, 1, 2), ((0, 0, 0), (0, 4)), ((0, 0, 1), (1,)), ((1, 0, 0), (2,)), ((1, 0, 1), (3,))
        )
    )
    assert cells(drawing) == [["", "d2:0", "d2:1"], ["d0:0", "0, 4", "1"], ["d0:1", "2", "3"]]


def test_many_devices_of_one_part_are_counted() -> None:
    drawing = draw_holders(sharding((2,), ((0,), tuple(range(20))), ((1,), (20,))))
    assert "15 and 4 more" in drawing


def test_what_is_not_cut_is_not_drawn() -> None:
    assert not draw_holders(sharding(()))
    assert not draw_holders(sharding((1, 1), ((0, 0), (0,))))
    assert not draw_holders(sharding((100,), *(((n,), (n,)) for n in range(100))))


def test_names_of_axes_are_escaped() -> None:
    assert "<b>" not in draw_mesh(mesh(("<b>", 2), devices=(0, 1)))
