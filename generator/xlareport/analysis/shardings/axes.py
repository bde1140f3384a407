"""Along which axes of a mesh a sharding cuts: read off, or worked out from the devices."""

from collections.abc import Mapping, Sequence
from itertools import product

from xlareport.hlo.shardings.mesh import Mesh
from xlareport.hlo.shardings.sharding import Sharding, ShardingKind, Tile, tiles_of_devices

_MOST_DEVICES = 4096
Axes = tuple[tuple[str, ...], ...]
"""For each dimension, the axes along which it is cut, the slowest first."""


def axes_of(sharding: Sharding, mesh: Mesh | None) -> Axes | None:
    """Return the axes of each dimension; None where no whole axes of the mesh explain the tiles."""
    if sharding.dimensions:
        return tuple(
            tuple(part.text for part in dimension.axes) for dimension in sharding.dimensions
        )
    if sharding.kind != ShardingKind.TILED or mesh is None or not mesh.axes:
        return None
    if sharding.device_count != mesh.devices.count or mesh.devices.count > _MOST_DEVICES:
        return None
    held, devices = tiles_of_devices(sharding), mesh.devices.devices()
    if held is None or devices is None or set(held) != set(devices):
        return None
    places = list(product(*map(range, mesh.sizes)))
    tile_at = {place: held[device] for place, device in zip(places, devices, strict=True)}
    return _explained(mesh, tile_at, len(sharding.tiles))


def _explained(mesh: Mesh, tile_at: Mapping[Tile, Tile], rank: int) -> Axes | None:
    origin = tile_at[(0,) * len(mesh.axes)]
    if any(origin):
        return None
    strides = [
        [_stride(tile_at, axis, size, dimension) for axis, size in enumerate(mesh.sizes)]
        for dimension in range(rank)
    ]
    for place, tile in tile_at.items():
        moved = (
            sum(step * stride for step, stride in zip(place, row, strict=True)) for row in strides
        )
        if tuple(moved) != tile:
            return None
    return tuple(_ordered(mesh, stride) for stride in strides)


def _stride(tile_at: Mapping[Tile, Tile], axis: int, size: int, dimension: int) -> int:
    """Return how far a step along an axis leads along a dimension."""
    if size < 2:
        return 0
    rank = len(next(iter(tile_at)))
    step = tuple(int(number == axis) for number in range(rank))
    return tile_at[step][dimension]


def _ordered(mesh: Mesh, strides: Sequence[int]) -> tuple[str, ...]:
    cutting = [
        (stride, name) for stride, (name, _) in zip(strides, mesh.axes, strict=True) if stride
    ]
    return tuple(name for _, name in sorted(cutting, key=lambda item: -item[0]))
