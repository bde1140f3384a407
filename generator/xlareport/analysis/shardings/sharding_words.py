"""Shardings in words: `dimension 0 in 4 parts along x, 2 replicas of each`."""

import re
from collections.abc import Mapping, Sequence
from itertools import product

from xlareport.hlo.shardings.mesh import Mesh, read_numbers
from xlareport.hlo.shardings.sharding import Sharding, ShardingKind, Tile, tiles_of_devices
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.runtime import units

_MOST_DEVICES = 4096
Axes = tuple[tuple[str, ...], ...]
"""For each dimension, the axes along which it is cut, the slowest first."""


def axes_of(sharding: Sharding, mesh: Mesh | None) -> Axes | None:
    """Return the axes of each dimension; None if no axes of the mesh explain the tiles."""
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


_MEMBERS = 8
_TILES_ALONE = re.compile(r"\{devices=\[([\d,]{1,800}+)\]\.\.\.\}", re.ASCII)
_MEANINGS = {
    ShardingKind.REPLICATED: "whole on each device",
    ShardingKind.MANUAL: "the shape is that of one device's part (shard_map)",
    ShardingKind.UNREDUCED: "a partial sum of the whole on each device",
}
_GROUPS = {
    ShardingKind.REPLICATED: "each part on {} devices",
    ShardingKind.MANUAL: "manual over {} devices",
    ShardingKind.UNREDUCED: "partial sums over {} devices",
}


def describe_sharding(
    sharding: Sharding, mesh: Mesh | None = None, *, explained: bool = True
) -> str:
    """Return the shard of each device in words, by mesh axes if they explain it.

    `explained` adds the meaning of `replicated` and other terms.
    """
    if sharding.kind == ShardingKind.TUPLE:
        shown = sharding.elements[:_MEMBERS]
        members = [describe_sharding(element, mesh, explained=explained) for element in shown]
        more = len(sharding.elements) - len(members)
        return "; ".join([*members, *([f"{more:,} more"] if more else [])]) or "empty tuple"
    if sharding.kind == ShardingKind.MAXIMAL:
        devices = sharding.devices.devices() if sharding.devices is not None else None
        return f"whole on device {devices[0]} only" if devices else "whole on one device"
    name, meaning = _open_words(sharding)
    if not name and sharding.kind != ShardingKind.TILED:
        name, meaning = sharding.kind.value, _MEANINGS.get(sharding.kind, "")
    if name:
        return f"{name}: {meaning}" if explained and meaning else name
    return _tiled_words(sharding, mesh)


def _tiled_words(sharding: Sharding, mesh: Mesh | None) -> str:
    cuts = describe_tiles(sharding.tiles, axes_of(sharding, mesh))
    groups = [_GROUPS[kind].format(f"{size:,}") for kind, size in sharding.subgroups]
    return ", ".join([*([cuts] if cuts else ["not cut"]), *groups])


def _open_words(sharding: Sharding) -> tuple[str, str]:
    """Return what a sharding with open dimensions is, and which propagation may cut."""
    is_whole = sharding.kind == ShardingKind.REPLICATED
    dimensions = enumerate(sharding.dimensions)
    opened = [str(number) for number, dimension in dimensions if dimension.is_open]
    if not opened or not (is_whole or sharding.kind == ShardingKind.TILED):
        return "", ""
    if is_whole and len(opened) == len(sharding.dimensions):
        return "open", "left to propagation"
    cuts = "not cut" if is_whole else _tiled_words(sharding, None)
    noun = "dimension" if len(opened) == 1 else "dimensions"
    return f"{cuts}, open to propagation", f"{noun} {', '.join(opened)}"


UNREAD = "not read"
"""Of a sharding that cannot be parsed."""


def words_of(written: str, mesh: Mesh | None = None, *, explained: bool = True) -> str:
    """Return a written sharding in words; `not read` if it cannot be parsed.

    `{devices=[1,4]...}` has the parts alone: which device holds which is not known.
    """
    tiles = read_numbers(match[1]) if (match := _TILES_ALONE.fullmatch(written)) else None
    if tiles:
        return describe_tiles(tiles)
    sharding = parse_sharding(written)
    if sharding is None:
        return UNREAD
    return describe_sharding(sharding, mesh, explained=explained)


def describe_tiles(tiles: tuple[int, ...], axes: Axes | None = None) -> str:
    """Return which dimensions are cut in how many parts; empty if none is."""
    along = axes if axes is not None and len(axes) == len(tiles) else ((),) * len(tiles)
    return ", ".join(
        f"dimension {number} in {units.count(count)} parts{_along(names)}"
        for number, (count, names) in enumerate(zip(tiles, along, strict=True))
        if count > 1
    )


def _along(names: tuple[str, ...]) -> str:
    return f" along {', '.join(names)}" if names else ""
