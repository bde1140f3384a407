"""Padded bytes of arrays in tiled layouts, as TPUs hold them: `f32[10,256]{1,0:T(8,128)}`."""

import re
from functools import lru_cache
from math import prod

from xlareport.analysis.cost.shape_sizes import UncountableError, iterate_leaves, measure_data
from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import LARGEST, Shape
from xlareport.runtime.whole_numbers import parse_whole_number, round_up

_TILE = re.compile(r"T\(([0-9]{1,9}(?:,[0-9]{1,9})*+)\)")
_SPACE = re.compile(r"S\(([0-9]{1,9})\)")
_TAIL = re.compile(r"L\(([0-9]{1,9})\)")


@lru_cache(maxsize=1 << 14)
def padded_size(array: Shape) -> int:
    """Return the bytes of an array with the padding of its tiles; its logical bytes without tiles.

    Only the outer tile pads, as in XLA's sizes. Raises UncountableError where a size is unknown.
    """
    size = measure_data(array)
    elements = array.element_count
    padded = _padded_elements(array)
    if not size or not elements or padded == elements:
        return size
    bytes_of_all = -(-size * padded // elements)
    if bytes_of_all > LARGEST:
        raise UncountableError(f"tiles too large to be meant in {array.text[:80]}")
    return bytes_of_all


def allocated_size(shape: Shape) -> int | None:
    """Return the bytes of a shape's arrays with the padding of their tiles; None if unknown."""
    try:
        return sum(map(padded_size, iterate_leaves(shape)))
    except UncountableError:
        return None


def main_memory_size(shape: Shape) -> int:
    """Return the bytes of a TPU shape's arrays that are in the device memory.

    Arrays in a memory space of their own, as in `{1,0:T(8,128)S(1)}`, are on the chip or on the
    host; the others are padded to whole tiles.
    """
    return sum(padded_size(leave) for leave in iterate_leaves(shape) if not _is_elsewhere(leave))


def main_memory_part(part: Shape, whole: Shape) -> int:
    """Return the bytes of a part of an array where the whole is in the device memory, else 0.

    Inside a fusion the part has no memory space of its own, and on its way into another it has
    that one's.
    """
    if _is_elsewhere(whole):
        return 0
    return sum(map(padded_size, iterate_leaves(part)))


def minor_to_major(shape: Shape) -> list[int]:
    """Return the order of the dimensions in memory; descending where none was written."""
    written = shape.layout.partition(":")[0]
    if not written:
        return list(reversed(range(len(shape.dimensions))))
    numbers = map(parse_whole_number, written.split(","))
    # each dimension once, whatever a broken layout repeats: sizes are products over these
    return list(dict.fromkeys(number for number in numbers if number is not None))


def rounded_dimensions(array: Shape) -> list[tuple[int, int, int]]:
    """Return the number of each dimension that the tile rounds up, its size and the rounded one."""
    tile = _TILE.search(array.layout)
    sizes = [int(item) for item in tile[1].split(",")] if tile else []
    pairs = zip(minor_to_major(array), reversed(sizes), strict=False)
    known = [(n, array.dimensions[n] or 0, size) for n, size in pairs if n < len(array.dimensions)]
    return [(n, own, round_up(own, size)) for n, own, size in known if size and own % size]


def _is_elsewhere(array: Shape) -> bool:
    space = _SPACE.search(array.layout)
    return space is not None and space[1] != "0"


def _padded_elements(array: Shape) -> int:
    tile, tail = _TILE.search(array.layout), _TAIL.search(array.layout)
    physical = [
        array.dimensions[number] or 0
        for number in reversed(minor_to_major(array))
        if number < len(array.dimensions)
    ]
    if tile:
        physical = _in_tiles(physical, [int(item) for item in tile[1].split(",")])
    elements = prod(physical)
    return round_up(elements, max(1, int(tail[1]) if tail else 1))


def _in_tiles(physical: list[int], tile: list[int]) -> list[int]:
    """Round the most minor dimensions up to whole tiles; a tile of more dimensions adds some."""
    lacking = [1] * (len(tile) - len(physical))
    dimensions = lacking + physical
    first = len(dimensions) - len(tile)
    rounded = [
        -(-dimensions[first + n] // max(number, 1)) * number for n, number in enumerate(tile)
    ]
    return dimensions[:first] + rounded


def sum_padding(module: HloModule) -> int:
    """Return the bytes by which tiles make the arguments larger than their data."""
    shapes = [parameter.shape for parameter in module.parameters]
    sizes = [(allocated_size(shape) or 0, shape.byte_size or 0) for shape in shapes]
    return sum(max(0, padded - unpadded) for padded, unpadded in sizes)
