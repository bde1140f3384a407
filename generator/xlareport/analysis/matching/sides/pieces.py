"""Values that are concatenated, sent or converted together, and extracted again by slices.

A slice that extracts exactly one operand has its value, whatever is in between.
"""

import re
from collections.abc import Iterator

from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.halves import is_done, is_start
from xlareport.analysis.matching.sides.side import Side

_JOIN = "concatenate"
_BETWEEN = frozenset({"all-reduce", "convert", "copy", "opt-barrier"})
"""Opcodes that keep every element where it is."""
_MOST_BETWEEN = 6
_MOST_READERS = 200
_RANGE = re.compile(r"\[(\d{1,18}):(\d{1,18})(?::1)?\]")


def piece_of(side: Side, part: Node) -> NodeElement | None:
    """Return the operand of a concatenation that a slice extracts exactly; else None."""
    operands = side.graph.operands(part) if part.instruction.opcode == "slice" else ()
    for _ in range(_MOST_BETWEEN):
        if not operands or operands[0][1]:
            return None
        node = operands[0][0]
        operands = side.graph.operands(node)
        if node.instruction.opcode == _JOIN:
            wanted = _taken(part)
            return next((piece for piece, place in _pieces(side, node) if place == wanted), None)
        if not _keeps_places(node):
            return None
    return None


def slices_of(side: Side, join: Node, number: int) -> list[Node]:
    """Return the slices that extract exactly one operand of a concatenation."""
    places = [place for _, place in _pieces(side, join)]
    if number >= len(places):
        return []
    waiting, slices = [join], []
    for _ in range(_MOST_BETWEEN):
        users = [user for node in waiting for user, _ in side.users.get(node, ())][:_MOST_READERS]
        slices += [user for user in users if _taken(user) == places[number]]
        waiting = [user for user in users if _keeps_places(user)]
    return slices


_Place = tuple[tuple[int, int], ...]
"""First element and end (exclusive) of each dimension."""


def _pieces(side: Side, join: Node) -> Iterator[tuple[NodeElement, _Place]]:
    """Yield the operands of a concatenation with the places of their elements in the result."""
    sizes = join.instruction.shape.dimensions
    along = join.instruction.attributes.get("dimensions", "").strip("{}")
    if not along.isdecimal() or int(along) >= len(sizes) or None in sizes:
        return
    start = 0
    for operand in side.graph.operands(join):
        shape = operand[0].instruction.shape
        size = shape.dimensions[int(along)] if len(shape.dimensions) == len(sizes) else None
        if operand[1] or size is None:
            return
        place = [(0, size or 0) for size in sizes]
        place[int(along)] = (start, start + size)
        start += size
        yield operand, tuple(place)


def _taken(part: Node) -> _Place | None:
    """Return the range of a slice; None if it has strides or the node is no slice."""
    line = part.instruction
    if line.opcode != "slice":
        return None
    ranges = _RANGE.findall(line.attributes.get("slice", ""))
    if len(ranges) != len(line.shape.dimensions):
        return None
    return tuple((int(first), int(last)) for first, last in ranges)


def _keeps_places(node: Node) -> bool:
    if node.kept or len(node.instruction.operands) != 1:
        return False
    opcode = node.instruction.opcode
    halves = is_done(node) or is_start(node)
    return opcode in _BETWEEN or (halves and opcode.rpartition("-")[0] in _BETWEEN)
