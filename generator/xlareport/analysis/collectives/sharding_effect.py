"""The effect of a collective on a sharding: the part that each device holds after it, if known.

An all-gather along a dimension joins the parts of its groups; a collective-permute passes each part
on; an all-to-all joins them along a dimension and cuts them along another. For other collectives it
does not follow from the sharding before.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from xlareport.hlo.shardings.sharding import Sharding, ShardingKind, Tile, tiles_of_devices
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.runtime.grouping import group_by_key

_MOST_DEVICES = 4_096


def gather(
    written: str, rank: int, dimension: int, groups: Sequence[Sequence[int]], devices: int
) -> str:
    """Return the sharding after an all-gather, as XLA writes it; empty if it does not follow."""
    held = _tiles_of(written, rank, devices)
    if held is None or not 0 <= dimension < rank:
        return ""
    tiles, places = held
    size = max(map(len, groups), default=0)
    if size < 2 or tiles[dimension] % size:
        return ""
    joined: dict[int, Tile] = {}
    for group in groups:
        place = _joined_tile([places.get(device) for device in group], dimension, size)
        if place is None:
            return ""
        joined.update(dict.fromkeys(group, place))
    return write_tiles(_replaced(tiles, dimension, tiles[dimension] // size), joined)


def _joined_tile(places: Sequence[Tile | None], dimension: int, size: int) -> Tile | None:
    """Return the index of the joined tile; None if the members do not hold adjacent tiles."""
    joined = [place for place in places if place is not None]
    numbers = sorted(place[dimension] for place in joined)
    others = {(*place[:dimension], *place[dimension + 1 :]) for place in joined}
    if len(joined) != size or len(others) != 1 or not numbers or numbers[0] % size:
        return None
    if numbers != list(range(numbers[0], numbers[0] + size)):
        return None
    first = joined[0]
    return _replaced(first, dimension, numbers[0] // size)


def exchange(
    written: str, joined: int, cut: int, groups: Sequence[Sequence[int]], devices: int
) -> str:
    """Return the sharding after an all-to-all that joins parts along a dimension and cuts another.

    Empty if it does not follow. The parts are in the order of the groups, along both dimensions.
    """
    sharding = parse_sharding(written)
    held = _tiles_of(written, len(sharding.tiles), devices) if sharding is not None else None
    size = max(map(len, groups), default=0)
    if held is None or size < 2 or not max(joined, cut) < len(held[0]):
        return ""
    tiles, places = held
    tile_of: dict[int, Tile] = {}
    for group in groups:
        parts = [places.get(device) for device in group]
        place = _joined_tile(parts, joined, size)
        if place is None or parts != sorted(part for part in parts if part is not None):
            return ""
        for number, device in enumerate(group):
            tile_of[device] = _replaced(place, cut, place[cut] * size + number)
    counts = _replaced(tiles, joined, tiles[joined] // size)
    return write_tiles(_replaced(counts, cut, counts[cut] * size), tile_of)


def _replaced(numbers: Tile, place: int, number: int) -> Tile:
    return (*numbers[:place], number, *numbers[place + 1 :])


def permute_sharding(
    written: str, rank: int, pairs: Sequence[tuple[int, int]], devices: int
) -> str:
    """Return the sharding after a collective-permute; empty where not every device gets a part."""
    held = _tiles_of(written, rank, devices)
    targets = [target for _, target in pairs]
    if held is None or sorted(targets) != sorted(held[1]):
        return ""
    tiles, places = held
    if any(source not in places for source, _ in pairs):
        return ""
    return write_tiles(tiles, {target: places[source] for source, target in pairs})


def _tiles_of(written: str, rank: int, devices: int) -> tuple[Tile, Mapping[int, Tile]] | None:
    """Return the number of tiles by dimension, and the tile of each device; None if unknown."""
    sharding = parse_sharding(written)
    if sharding is None or not 1 < devices <= _MOST_DEVICES:
        return None
    if sharding.kind is ShardingKind.REPLICATED:
        return (1,) * rank, dict.fromkeys(range(devices), (0,) * rank)
    places = tiles_of_devices(sharding) if sharding.kind is ShardingKind.TILED else None
    if places is None or len(sharding.tiles) != rank:
        return None
    return sharding.tiles, places


def write_tiles(tiles: Tile, places: Mapping[int, Tile]) -> str:
    """Write a sharding as `{devices=[2,1]<=[2]}`, or `{devices=[2,1]1,0}`; empty if uneven."""
    if prod(tiles) == 1:
        return "{replicated}"
    holders = group_by_key((place, device) for device, place in sorted(places.items()))
    every = [holders.get(place, []) for place in product(*map(range, tiles))]
    devices_per_tile = len(places) // prod(tiles)
    if not devices_per_tile or any(len(devices) != devices_per_tile for devices in every):
        return ""
    order = [device for devices in every for device in devices]
    is_ascending = order == list(range(len(order)))
    listed = f"<=[{len(order)}]" if is_ascending else ",".join(map(str, order))
    counts = ",".join(map(str, tiles))
    if devices_per_tile == 1:
        return f"{{devices=[{counts}]{listed}}}"
    return f"{{devices=[{counts},{devices_per_tile}]{listed} last_tile_dim_replicate}}"


def cuts_along(written: str, dimensions: Sequence[int]) -> int:
    """Return in how many parts a sharding cuts some dimensions together; 1 if not known."""
    sharding: Sharding | None = parse_sharding(written)
    if sharding is None or sharding.kind is not ShardingKind.TILED:
        return 1
    return prod(sharding.tiles[number] for number in dimensions if number < len(sharding.tiles))


def tiles_of(written: str) -> tuple[int, ...] | None:
    """Return in how many parts a sharding cuts each dimension; None where it cuts none."""
    sharding = parse_sharding(written)
    if sharding is None or sharding.kind is not ShardingKind.TILED:
        return None
    return sharding.tiles
