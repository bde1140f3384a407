"""Which devices talk to one another: replica groups in each of their written forms.

`{{0,1},{2,3}}` lists them; `[2,4]<=[8]` and `[2,4]<=[4,2]T(1,0)` cut a reshaped, transposed count
of the devices into rows; `mesh['x'=2,'y'=4] {'y'}` groups along axes of a mesh.
"""

import re
from functools import lru_cache
from math import prod

from msgspec import Struct

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

_GROUP = re.compile(r"\{([0-9, ]{0,2000000})\}")
_IOTA = re.compile(r"\[(\d{1,9}),(\d{1,9})\]<=\[([0-9,]{1,200})\](?:T\(([0-9,]{1,200})\))?")
_MESH = re.compile(
    r"mesh\[([^\]]{0,2000})\](?:, ?device_ids=\(((?:[^()]|\([^()]*+\))*+)\))? ?\{([^}]{0,2000})\}"
)
_PAIR = re.compile(r"\{\s*+(\d{1,9}+)\s*+,\s*+(\d{1,9}+)\s*+\}", re.ASCII)
Groups = tuple[tuple[int, ...], ...]


class DeviceGroups(Struct, frozen=True):
    """Groups of devices, by size and number, and each by its members where they are few enough."""

    count: int
    size: int
    """Devices in a group; in the largest where they differ."""
    groups: Groups | None
    """None where there are too many devices to list."""
    mesh: Mesh | None = None
    """Where the groups are written along the axes of a mesh."""
    axes: tuple[AxisPart, ...] = ()
    """The axes along which devices are grouped."""


@lru_cache(maxsize=4096)
def parse_groups(text: str, everyone: int | None = None) -> DeviceGroups | None:
    """Parse a `replica_groups` attribute; None for an unknown form.

    An empty one means all: one group of `everyone`, or None where their number is not given.
    """
    text = text.strip()
    mesh, iota = _MESH.fullmatch(text), _IOTA.fullmatch(text)
    if mesh:
        return _from_mesh(mesh)
    if iota:
        return _from_iota(iota)
    if text in ("", "{}"):
        return _from_order(1, everyone, DeviceOrder.counted([everyone])) if everyone else None
    groups = [read_numbers(match[1]) for match in _GROUP.finditer(text)]
    known = tuple(members for members in groups if members)
    if not known or None in groups or not _is_list(text, _GROUP):
        return None
    return DeviceGroups(len(known), max(map(len, known)), known)


def name_same_groups(text: str, other: str) -> bool:
    """Return whether two attributes list the same groups in the same order, each in its form."""
    groups = [parsed.groups for parsed in map(parse_groups, (text, other)) if parsed is not None]
    return len(groups) > 1 and groups[0] is not None and groups[0] == groups[1]


def parse_pairs(text: str) -> tuple[tuple[int, int], ...] | None:
    """Parse `source_target_pairs`: who sends to whom; None for an unknown form."""
    pairs = tuple((int(match[1]), int(match[2])) for match in _PAIR.finditer(text))
    return pairs if _is_list(text.strip(), _PAIR) else None


def _is_list(text: str, item: re.Pattern[str]) -> bool:
    """Return whether there are only items and commas between two braces."""
    is_closed = text.startswith("{") and text.endswith("}")
    return is_closed and not item.sub("", text[1:-1]).strip(", \t\n")


def _from_iota(match: re.Match[str]) -> DeviceGroups | None:
    sizes, order = read_numbers(match[3]), read_numbers(match[4] or "")
    if not sizes or order is None:
        return None
    return _from_order(int(match[1]), int(match[2]), DeviceOrder.counted(sizes, order))


def _from_mesh(match: re.Match[str]) -> DeviceGroups | None:
    """Return groups along axes: the devices of a group differ in these axes only."""
    mesh, axes = make_mesh(match[1], match[2]), read_axes(match[3])
    if mesh is None or axes is None or not mesh.axes:
        return None
    order, sizes = order_along(mesh, axes, grouped=True), part_sizes(mesh, axes)
    if order is None or sizes is None:
        return None
    size = prod(sizes)
    groups = _from_order(count_devices(mesh) // size, size, order)
    return DeviceGroups(groups.count, groups.size, groups.groups, mesh, axes) if groups else None


def _from_order(count: int, size: int, order: DeviceOrder | None) -> DeviceGroups | None:
    """Return the devices, in order, divided into groups of one size."""
    if order is None or order.count != count * size:
        return None
    devices = order.devices()
    if devices is None:
        return DeviceGroups(count, size, None)
    rows = (devices[start : start + size] for start in range(0, len(devices), size))
    return DeviceGroups(count, size, tuple(rows))
