"""The device mesh: named axes with sizes, devices in an order, and references to parts of axes."""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import prod

from msgspec import Struct

from xlareport.hlo import quoting
from xlareport.hlo.shardings.device_order import DeviceOrder

_NAME = r"(?:'([^']{0,200}+)'|\"([^\"]{0,200}+)\"|([\w.\-]{1,200}+))"
_AXIS = re.compile(rf"\s*+{_NAME}\s*+=\s*+(\d{{1,9}}+)\s*+", re.ASCII)
_REFERENCE = re.compile(rf"\s*+{_NAME}\s*+(?::\((\d{{1,9}}+)\)(\d{{1,9}}+))?+\s*+", re.ASCII)
_IOTA_IDS = re.compile(r"\s*+\[([\d,\s]{0,400}+)\]\s*+(?:T\(([\d,\s]{0,400}+)\))?+\s*+", re.ASCII)
_NUMBERS = re.compile(r"[\d,\s]*+", re.ASCII)


class Mesh(Struct, frozen=True):
    """`mesh['x'=2,'y'=4]`: axes, the slowest first."""

    axes: tuple[tuple[str, int], ...]
    """Names with sizes."""
    devices: DeviceOrder

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple(size for _, size in self.axes)


class AxisPart(Struct, frozen=True):
    """An axis of a mesh, or a part of one: `'y':(2)4` is 4 of `'y'`, after 2 in front of it."""

    name: str
    before: int = 1
    size: int | None = None
    """None for the whole axis."""

    @property
    def text(self) -> str:
        """As Shardy writes it, without quotes: `y`, `y:(2)4`."""
        return self.name if self.size is None else f"{self.name}:({self.before}){self.size}"


def read_numbers(text: str) -> tuple[int, ...] | None:
    """Return the numbers of `1,2,3`; None for another text, and for a number of over 9 digits."""
    if not _NUMBERS.fullmatch(text):
        return None
    words = text.split(",") if text.strip() else []
    if not all(word.strip().isdigit() and len(word.strip()) < 10 for word in words):
        return None
    return tuple(map(int, words))


def make_mesh(axes_text: str, ids_text: str | None) -> Mesh | None:
    """Make a mesh of `'x'=2,'y'=4` and of its device ids, if any; None if they do not fit."""
    axes = []
    for word in quoting.split_at_commas(axes_text) if axes_text.strip() else ():
        match = _AXIS.fullmatch(word)
        if match is None:
            return None
        axes.append((_axis_name(match), int(match[4])))
    sizes = tuple(size for _, size in axes)
    devices = _devices(sizes, ids_text)
    if devices is None or len({name for name, _ in axes}) < len(axes):
        return None
    return Mesh(tuple(axes), devices)


def _axis_name(match: re.Match[str]) -> str:
    return next(name for name in match.groups()[:3] if name is not None)


def _devices(sizes: Sequence[int], ids_text: str | None) -> DeviceOrder | None:
    counted = DeviceOrder.counted(sizes)
    if counted is None or ids_text is None:
        return counted
    iota = _IOTA_IDS.fullmatch(ids_text)
    if iota:
        dimensions, order = read_numbers(iota[1]), read_numbers(iota[2] or "")
        if dimensions is None or order is None:
            return None
        devices = DeviceOrder.counted(dimensions, order)
    else:
        listed = read_numbers(ids_text)
        devices = DeviceOrder.of(listed) if listed else None
    return devices if devices is not None and devices.count == counted.count else None


def read_axes(text: str) -> tuple[AxisPart, ...] | None:
    """Return the axes of `'x', 'y':(1)2`; None for another text."""
    parts = []
    for word in quoting.split_at_commas(text) if text.strip() else ():
        match = _REFERENCE.fullmatch(word)
        if match is None:
            return None
        size = int(match[5]) if match[5] else None
        parts.append(AxisPart(_axis_name(match), int(match[4] or 1), size))
    return tuple(parts)


def part_sizes(mesh: Mesh, parts: Sequence[AxisPart]) -> tuple[int, ...] | None:
    """Return the size of each part; None if one names no axis of the mesh."""
    whole = dict(mesh.axes)
    if not {part.name for part in parts} <= whole.keys():
        return None
    return tuple(whole[part.name] if part.size is None else part.size for part in parts)


def order_along(
    mesh: Mesh, parts: Sequence[AxisPart], *, grouped: bool = False
) -> DeviceOrder | None:
    """Return the devices with these parts of axes slowest, or fastest if they are to be grouped.

    The other axes keep their order. None where a part is no part of the mesh, or two overlap.
    """
    sizes = part_sizes(mesh, parts)
    cuts = _cuts(mesh, parts) if sizes is not None else None
    if cuts is None or sizes is None:
        return None
    pieces = [
        (name, before, after // before)
        for name, _ in mesh.axes
        for before, after in pairwise(cuts[name])
    ]
    first = [
        number
        for part, size in zip(parts, sizes, strict=True)
        for number, (name, before, _) in enumerate(pieces)
        if name == part.name and part.before <= before < part.before * size
    ]
    if len(set(first)) < len(first):
        return None
    rest = [number for number in range(len(pieces)) if number not in set(first)]
    turned = [*rest, *first] if grouped else [*first, *rest]
    counted = DeviceOrder.counted([size for *_, size in pieces], turned)
    if counted is None or mesh.devices == DeviceOrder.counted(mesh.sizes):
        return counted
    listed = mesh.devices.devices()
    return DeviceOrder(counted.sizes, counted.order, listed) if listed is not None else None


def _cuts(mesh: Mesh, parts: Sequence[AxisPart]) -> dict[str, list[int]] | None:
    """Return for each axis the products of sizes at which it is cut; None if one does not fit."""
    cuts = {name: {1, size} for name, size in mesh.axes}
    for part in parts:
        if part.size is not None:
            cuts[part.name] |= {part.before, part.before * part.size}
    result = {name: sorted(places) for name, places in cuts.items()}
    sizes = dict(mesh.axes)
    fits = all(
        places[0] > 0
        and places[-1] == sizes[name]
        and all(after % before == 0 for before, after in pairwise(places))
        for name, places in result.items()
    )
    return result if fits else None


def count_devices(mesh: Mesh) -> int:
    """Return how many devices a mesh has."""
    return prod(mesh.sizes)
