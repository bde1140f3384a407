"""Which devices talk to one another: replica groups in each of their written forms.

`{{0,1},{2,3}}` lists them; `[2,4]<=[8]` and `[2,4]<=[4,2]T(1,0)` cut a reshaped, transposed count
of the devices into rows; `mesh['x'=2,'y'=4] {'y'}` groups along axes of a mesh.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

_MOST_DEVICES = 100_000
_GROUP = re.compile(r"\{([0-9, ]{0,2000000})\}")
_IOTA = re.compile(r"\[(\d{1,9}),(\d{1,9})\]<=\[([0-9,]{1,200})\](?:T\(([0-9,]{1,200})\))?")
_MESH = re.compile(r"mesh\[([^\]]{0,2000})\] ?\{([^}]{0,2000})\}")
_AXIS = re.compile(r"'([^']{0,200})'=(\d{1,9})")
_NAME = re.compile(r"'([^']{0,200})'")
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class DeviceGroups:
    """Groups of devices, by size and number, and each by its members where they are few enough."""

    count: int
    size: int
    """Devices in a group; in the largest where they differ."""
    groups: Groups | None
    """None where there are too many devices to list."""


def parse_groups(text: str) -> DeviceGroups | None:
    """Parse a `replica_groups` attribute; None where it is empty or of an unknown form."""
    text = text.strip()
    mesh, iota = _MESH.fullmatch(text), _IOTA.fullmatch(text)
    if mesh:
        return _from_mesh(mesh)
    if iota:
        return _from_iota(iota)
    groups = tuple(members for match in _GROUP.finditer(text) if (members := _numbers(match[1])))
    if not groups:
        return None
    return DeviceGroups(len(groups), max(map(len, groups)), groups)


def _from_iota(match: re.Match[str]) -> DeviceGroups | None:
    count, size, dimensions = int(match[1]), int(match[2]), _numbers(match[3])
    order = _numbers(match[4]) if match[4] else tuple(range(len(dimensions)))
    if prod(dimensions) != count * size or sorted(order) != list(range(len(dimensions))):
        return None
    return _rows(count, size, dimensions, order)


def _from_mesh(match: re.Match[str]) -> DeviceGroups | None:
    axes = [(name, int(size)) for name, size in _AXIS.findall(match[1])]
    grouped = set(_NAME.findall(match[2]))
    inner = [number for number, (name, _) in enumerate(axes) if name in grouped]
    outer = [number for number, (name, _) in enumerate(axes) if name not in grouped]
    if not axes or not grouped <= {name for name, _ in axes}:
        return None
    sizes = [size for _, size in axes]
    count, size = prod(sizes[number] for number in outer), prod(sizes[number] for number in inner)
    return _rows(count, size, sizes, [*outer, *inner])


def _rows(count: int, size: int, dimensions: Sequence[int], order: Sequence[int]) -> DeviceGroups:
    """Cut the count of devices, of these dimensions and in this order of them, into rows."""
    if not 0 < count * size <= _MOST_DEVICES:
        return DeviceGroups(count, size, None)
    devices = _transposed(dimensions, order)
    rows = (tuple(devices[start : start + size]) for start in range(0, len(devices), size))
    return DeviceGroups(count, size, tuple(rows))


def _transposed(dimensions: Sequence[int], order: Sequence[int]) -> list[int]:
    """Count from 0 over the dimensions, and return the numbers in the transposed order."""
    strides = [prod(dimensions[number + 1 :]) for number in range(len(dimensions))]
    result = [0]
    for axis in order:
        result = [
            number + step * strides[axis] for number in result for step in range(dimensions[axis])
        ]
    return result


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(item) for item in re.findall(r"\d{1,9}", text))
