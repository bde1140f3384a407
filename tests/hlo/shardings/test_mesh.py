"""Meshes, and devices along their axes."""

import pytest

from xlareport.hlo.shardings.device_order import DeviceOrder
from xlareport.hlo.shardings.mesh import (
    AxisPart,
    Mesh,
    count_devices,
    make_mesh,
    order_along,
    part_sizes,
    read_axes,
    read_numbers,
)


def mesh(axes: str, ids: str | None = None) -> Mesh:
    result = make_mesh(axes, ids)
    assert result is not None
    return result


def devices(order: DeviceOrder | None) -> tuple[int, ...] | None:
    assert order is not None
    return order.devices()


def test_axes_with_their_sizes() -> None:
    made = mesh("'x'=2,\"y\"=4, z=1")
    assert made.axes == (("x", 2), ("y", 4), ("z", 1))
    assert made.sizes == (2, 4, 1)
    assert count_devices(made) == 8


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (None, (0, 1, 2, 3)),
        ("3,2,1,0", (3, 2, 1, 0)),
        ("[2,2]T(1,0)", (0, 2, 1, 3)),
    ],
)
def test_devices_of_a_mesh(ids: str | None, expected: tuple[int, ...]) -> None:
    assert devices(mesh("'x'=2,'y'=2", ids).devices) == expected


@pytest.mark.parametrize(
    ("axes", "ids"),
    [("'x'=2", "0,1,2"), ("'x'=two", None), ("'x'=0", None), ("'x'=2", "0;1"), ("x=2,x=3", None)],
)
def test_what_is_no_mesh_is_none(axes: str, ids: str | None) -> None:
    assert make_mesh(axes, ids) is None


def test_parts_of_axes() -> None:
    parts = read_axes("'x', 'y':(2)4")
    assert parts == (AxisPart("x"), AxisPart("y", 2, 4))
    assert [part.text for part in parts] == ["x", "y:(2)4"]
    assert part_sizes(mesh("'x'=2,'y'=8"), parts) == (2, 4)
    assert part_sizes(mesh("'x'=2"), parts) is None
    assert read_axes("'x' 'y'") is None


@pytest.mark.parametrize(
    ("axes", "grouped", "expected"),
    [
        ("'x'", False, (0, 1, 2, 3, 4, 5, 6, 7)),
        ("'y'", False, (0, 4, 1, 5, 2, 6, 3, 7)),
        ("'x'", True, (0, 4, 1, 5, 2, 6, 3, 7)),
        ("'y':(1)2", True, (0, 2, 1, 3, 4, 6, 5, 7)),
        ("'y':(2)2", False, (0, 2, 4, 6, 1, 3, 5, 7)),
    ],
)
def test_devices_along_axes(axes: str, *, grouped: bool, expected: tuple[int, ...]) -> None:
    parts = read_axes(axes)
    assert parts is not None
    assert devices(order_along(mesh("'x'=2,'y'=4"), parts, grouped=grouped)) == expected


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1, 2", (1, 2)), ("", ()), ("1,,2", None), ("1234567890", None), ("a", None)],
)
def test_numbers(text: str, numbers: tuple[int, ...] | None) -> None:
    assert read_numbers(text) == numbers
