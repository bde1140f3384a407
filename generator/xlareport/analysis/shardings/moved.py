"""Minimum bytes that each device receives from others when a sharding changes."""

from collections.abc import Sequence
from math import prod

from xlareport.hlo.shardings.sharding import Sharding, ShardingKind, Tile, tiles_of_devices

MOST_DEVICES = 4096
IndexBounds = tuple[tuple[int, int], ...]
"""First and last but one index along each dimension."""


def count_received(
    before: Sharding, after: Sharding, dimensions: Sequence[int], devices: int
) -> tuple[int, int] | None:
    """Return elements that one device must receive at most, and all devices together.

    That is what its new part has and its old part has not, by the shardings alone: no way of
    resharding needs less. None for partial sums, manual and unknown shardings, and many devices.
    """
    held = [device_boxes(sharding, dimensions, devices) for sharding in (before, after)]
    if held[0] is None or held[1] is None:
        return None
    missing = [
        _count_elements(new) - _count_elements(_overlap(held[0][device], new))
        for device, new in held[1].items()
    ]
    return max(missing, default=0), sum(missing)


def device_boxes(
    sharding: Sharding, dimensions: Sequence[int], devices: int
) -> dict[int, IndexBounds] | None:
    """Return the box of the array on each device; None if unknown."""
    whole = tuple((0, size) for size in dimensions)
    if devices > MOST_DEVICES:
        return None
    if sharding.kind == ShardingKind.REPLICATED:
        return dict.fromkeys(range(devices), whole)
    if sharding.kind == ShardingKind.MAXIMAL:
        listed = sharding.devices.devices() if sharding.devices is not None else None
        nothing = tuple((0, 0) for _ in dimensions)
        holder = listed[0] if listed else None
        return {device: whole if device == holder else nothing for device in range(devices)}
    partial = any(kind != ShardingKind.REPLICATED for kind, _ in sharding.subgroups)
    if sharding.kind != ShardingKind.TILED or partial or len(sharding.tiles) != len(dimensions):
        return None
    tiles = tiles_of_devices(sharding)
    if tiles is None or set(tiles) != set(range(devices)):
        return None
    return {device: _box(tile, sharding.tiles, dimensions) for device, tile in tiles.items()}


def _box(tile: Tile, tiles: Sequence[int], dimensions: Sequence[int]) -> IndexBounds:
    """Return a part: equal ones as large as the first, the last may be less."""
    box = []
    for number, count, size in zip(tile, tiles, dimensions, strict=True):
        part_size = -(-size // count)
        box.append((min(size, number * part_size), min(size, (number + 1) * part_size)))
    return tuple(box)


def _overlap(first: IndexBounds, second: IndexBounds) -> IndexBounds:
    return tuple(
        (max(begin, start), min(end, stop))
        for (begin, end), (start, stop) in zip(first, second, strict=True)
    )


def _count_elements(box: IndexBounds) -> int:
    return prod(max(0, end - begin) for begin, end in box)
