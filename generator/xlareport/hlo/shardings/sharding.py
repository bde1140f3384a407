"""A sharding: the part of an array on each device, in one record for every notation."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import product
from math import prod

from msgspec import Struct

from xlareport.hlo.shardings.device_order import DeviceOrder
from xlareport.hlo.shardings.mesh import AxisPart, Mesh

Tile = tuple[int, ...]
"""The place of a part: its number along each dimension."""


class ShardingKind(StrEnum):
    """The kind of a sharding, in the terms of XLA's OpSharding."""

    REPLICATED = "replicated"
    """Each device has the whole array."""
    MAXIMAL = "maximal"
    """One device has the whole array."""
    MANUAL = "manual"
    """The shape is that of one device's shard; the program moves data itself (`shard_map`)."""
    UNREDUCED = "unreduced"
    """Each device has a partial sum of the whole array."""
    UNKNOWN = "unknown"
    TILED = "tiled"
    """Cut into equal parts along dimensions."""
    TUPLE = "tuple"


class DimensionAxes(Struct, frozen=True):
    """The axes of a mesh along which a dimension is cut."""

    axes: tuple[AxisPart, ...]
    is_open: bool = False
    """Propagation may add further axes (`?`)."""


class Sharding(Struct, frozen=True):
    """The sharding of an array, or those of the members of a tuple."""

    kind: ShardingKind
    tiles: tuple[int, ...] = ()
    """In how many parts each dimension is cut; of a tiled one."""
    subgroups: tuple[tuple[ShardingKind, int], ...] = ()
    """The relation of the devices of one tile: replicas, manual, unreduced; with sizes."""
    devices: DeviceOrder | None = None
    """Tile by tile, the subgroups last; the one device of a maximal sharding. None if not named."""
    mesh: Mesh | None = None
    """Where the notation names axes."""
    dimensions: tuple[DimensionAxes, ...] = ()
    """Along which axes each dimension is cut, where the notation names them."""
    elements: tuple["Sharding", ...] = ()
    """Of a tuple."""

    @property
    def device_count(self) -> int | None:
        """How many devices it names; None where it names none, as `{replicated}`."""
        if self.devices is not None:
            return self.devices.count
        return prod(self.mesh.sizes) if self.mesh is not None and self.mesh.axes else None

    @property
    def cuts(self) -> int:
        """The number of different shards; 1 if each device has the whole array."""
        return prod(self.tiles)


def tiles_of_devices(sharding: Sharding) -> dict[int, Tile] | None:
    """Return the tile of each device; None if no devices are named, or too many."""
    if sharding.devices is None or not sharding.tiles:
        return None
    devices = sharding.devices.devices()
    if devices is None:
        return None
    group_size = len(devices) // max(1, sharding.cuts)
    places = product(*map(range, sharding.tiles))
    return {
        device: place
        for number, place in enumerate(places)
        for device in devices[number * group_size : (number + 1) * group_size]
    }


def tiled(
    tiles: tuple[int, ...],
    subgroups: Iterable[tuple[ShardingKind, int]],
    devices: DeviceOrder,
    mesh: Mesh | None = None,
    dimensions: tuple[DimensionAxes, ...] = (),
) -> Sharding:
    """Return a sharding into tiles; if it divides nothing, the kind that it really is.

    Subgroups of one device are left out, as in XLA.
    """
    groups = tuple(group for group in subgroups if group[1] > 1)
    kinds = {kind for kind, _ in groups} or {ShardingKind.REPLICATED}
    if prod(tiles) == 1 and len(kinds) == 1:
        return Sharding(kinds.pop(), mesh=mesh, dimensions=dimensions, devices=devices)
    return Sharding(ShardingKind.TILED, tiles or (1,), groups, devices, mesh, dimensions)


def place_alike(first: Sharding, second: Sharding) -> bool | None:
    """Return whether two shardings give each device the same part; None where it is not known."""
    if first.kind != second.kind:
        return False
    if first.kind == ShardingKind.TUPLE:
        return _tuples_alike(first, second)
    if first.kind == ShardingKind.MAXIMAL:
        return first.devices == second.devices
    if first.kind != ShardingKind.TILED:
        return True
    if first.tiles != second.tiles or _partial(first) != _partial(second):
        return False
    held = tiles_of_devices(first), tiles_of_devices(second)
    return None if None in held else held[0] == held[1]


def _partial(sharding: Sharding) -> list[tuple[ShardingKind, int]]:
    return sorted(group for group in sharding.subgroups if group[0] != ShardingKind.REPLICATED)


def _tuples_alike(first: Sharding, second: Sharding) -> bool | None:
    if len(first.elements) != len(second.elements):
        return False
    pairs = zip(first.elements, second.elements, strict=True)
    answers = [place_alike(*pair) for pair in pairs]
    return False if False in answers else None if None in answers else True
