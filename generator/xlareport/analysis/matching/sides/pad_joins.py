"""Maximums of padded arrays that cover a dimension: what the TPU compiler makes of a concatenate.

It pads each operand with the lowest value to the size of the result, and takes the maximum of
them. Each fusion that reads the result may have a copy of that.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import Instruction

_JOIN, _PAD = "maximum", "pad"
_PASSED = frozenset({"bitcast", "convert", "copy"})
_PADDING = re.compile(r"(?<![\d_])(\d{1,9})_(\d{1,9})(?![\d_])")
"""Padding of the edges of a dimension, and none within."""
_MOST = 200
"""Limit on the instructions of one join."""

PartSizes = tuple[int, tuple[int, ...]]
"""The number of a dimension, and the sizes along it of the arrays that are joined."""


class PadJoin(Struct, frozen=True, eq=False):
    """Pads, and the maximums of their results."""

    parts: tuple[Node, ...]
    """The last maximum first, and also converts and the padding values."""
    sources: tuple[NodeElement, ...]
    """What is padded, in the order of the places in the result."""
    sizes: PartSizes


def find_pad_joins(side: Side) -> Iterator[PadJoin]:
    """Yield the joins among the nodes of a side that have no partner."""
    for node in side.open():
        if node.instruction.opcode == _JOIN:
            parts = _parts(side, node)
            pads = [part for part in parts if part.instruction.opcode == _PAD]
            join = _join(side, parts, pads) if pads else None
            if join is not None:
                yield join


def part_sizes(concatenate: Node) -> PartSizes | None:
    """Return which dimension a concatenate joins, and the sizes of its operands along it."""
    line = concatenate.instruction
    numbers = dimension_numbers(line)
    operands = concatenate.frame.computation.operands(line)
    shapes = [operand.shape.dimensions for operand in operands if operand is not None]
    if len(numbers) != 1 or len(shapes) < len(operands):
        return None
    sizes = [shape[numbers[0]] if numbers[0] < len(shape) else None for shape in shapes]
    known = tuple(size for size in sizes if size is not None)
    return (numbers[0], known) if len(known) == len(sizes) else None


def _parts(side: Side, join: Node) -> list[Node]:
    """Return what computes a maximum of pads; empty if it reads anything else."""
    parts = {join: None}
    waiting = [join]
    for part in waiting:
        if part.instruction.opcode == _PAD:
            parts.update(dict.fromkeys(_padding_values(side, part)))
            continue
        for read, path in side.graph.operands(part):
            within = read.instruction.opcode in {_JOIN, _PAD, *_PASSED}
            if path or not within or read.partner is not None or len(waiting) > _MOST:
                return []
            if read not in parts:
                parts[read] = None
                waiting.append(read)
    return [*parts]


def _padding_values(side: Side, pad: Node) -> Iterator[Node]:
    """Yield the value with which a pad fills, if it is new."""
    for read, _ in side.graph.operands(pad)[1:]:
        if read.partner is None:
            yield read


def _join(side: Side, parts: Sequence[Node], pads: Sequence[Node]) -> PadJoin | None:
    """Return the join of pads that cover one dimension without gaps; None of others."""
    places = sorted((place, number) for number, pad in enumerate(pads) if (place := _place(pad)))
    dimensions = {place.dimension for place, _ in places}
    if len(places) < len(pads) or len(pads) == 1 or len(dimensions) != 1:
        return None
    end = 0
    for place, _ in places:
        if place.low != end:
            return None
        end += place.size
    sources = tuple(side.graph.operands(pads[number])[0] for _, number in places)
    sizes = tuple(place.size for place, _ in places)
    is_whole = end == places[0][0].total
    return PadJoin(tuple(parts), sources, (dimensions.pop(), sizes)) if is_whole else None


class _Place(NamedTuple):
    """Where a pad puts its operand along the only dimension that it pads."""

    low: int
    size: int
    total: int
    dimension: int


def _place(pad: Node) -> _Place | None:
    """Return the place of what a pad pads; None if it pads several dimensions or none."""
    line = pad.instruction
    sides = _PADDING.findall(line.attributes.get("padding", ""))
    padded = [number for number, (low, high) in enumerate(sides) if (low, high) != ("0", "0")]
    total = line.shape.dimensions[padded[0]] if len(padded) == 1 and _is_ranked(line, sides) else 0
    if not total:
        return None
    low, high = map(int, sides[padded[0]])
    return _Place(low, total - low - high, total, padded[0])


def _is_ranked(line: Instruction, sides: Sequence[tuple[str, str]]) -> bool:
    """Return whether padding of the edges alone is stated for each dimension."""
    stated = line.attributes.get("padding", "").split("x")
    return len(sides) == len(line.shape.dimensions) == len(stated)
