"""The mesh and shardings as small tables: cells with the ids of devices."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from markupsafe import Markup

from xlareport.pages.rendering.device_table import DeviceCell, draw_device_table
from xlareport.records.shardings import MeshRecord, ShardingRecord
from xlareport.runtime.english import first_few

_MOST_NAMED = 16
"""Devices that one cell names."""
_MOST_CELLS = 64
"""Limit on rows, and on columns, of one drawing."""
MeshPosition = tuple[int, ...]


def draw_mesh(mesh: MeshRecord) -> Markup:
    """Draw the devices of a mesh: the last axis across, the others down; empty if too many."""
    sizes = [axis.size for axis in mesh.axes]
    if not mesh.devices or not sizes or sizes[-1] > _MOST_CELLS:
        return Markup()
    *down, across = mesh.axes
    outer = list(product(*(range(axis.size) for axis in down)))
    if len(outer) > _MOST_CELLS:
        return Markup()
    heads = [
        " ".join(f"{axis.name}={step}" for axis, step in zip(down, place, strict=True))
        for place in outer
    ]
    columns = [f"{across.name}={step}" for step in range(across.size)]
    width = across.size
    rows = [
        [DeviceCell(str(device)) for device in mesh.devices[number * width : (number + 1) * width]]
        for number in range(len(outer))
    ]
    return draw_device_table(rows, columns, heads if any(heads) else ())


def draw_holders(sharding: ShardingRecord) -> Markup:
    """Draw the parts of an array with the devices that hold each; empty if nothing is cut.

    Of the dimensions that are cut, the last goes across and the others down.
    """
    cut = [number for number, count in enumerate(sharding.tiles) if count > 1]
    if not sharding.holders or not cut:
        return Markup()
    *down, across = cut
    rows = prod(sharding.tiles[number] for number in down)
    if rows > _MOST_CELLS or sharding.tiles[across] > _MOST_CELLS:
        return Markup()
    holders = {holder.tile: holder.devices for holder in sharding.holders}
    heads, cells = [], []
    for place in product(*(range(sharding.tiles[number]) for number in down)):
        heads.append(
            " ".join(f"d{number}:{step}" for number, step in zip(down, place, strict=True))
        )
        fixed = dict(zip(down, place, strict=True))
        cells.append(list(_cells(sharding.tiles, across, fixed, holders)))
    columns = [f"d{across}:{step}" for step in range(sharding.tiles[across])]
    return draw_device_table(cells, columns, heads if any(heads) else ())


def _cells(
    tiles: Sequence[int],
    across: int,
    fixed: Mapping[int, int],
    holders: Mapping[MeshPosition, tuple[int, ...]],
) -> Iterator[DeviceCell]:
    for step in range(tiles[across]):
        place = tuple(
            step if number == across else fixed.get(number, 0) for number in range(len(tiles))
        )
        devices = holders.get(place, ())
        text = first_few([str(device) for device in devices], _MOST_NAMED)
        yield DeviceCell(text, min(devices, default=0))
