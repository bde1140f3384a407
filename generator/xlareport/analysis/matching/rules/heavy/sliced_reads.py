"""Which single rows of joined values a product reads, such as the queries of queries and keys.

A pass changes layouts, and the order of dimensions, but not which row of a whole a slice takes.
"""

import re

from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_PASSED = REARRANGEMENTS | {"convert"}
_LONGEST = 8
"""Moves and converts in a row that are looked behind."""
_BOUNDS = re.compile(r"\[(\d{1,18}):(\d{1,18})\]")

Rows = frozenset[tuple[int, ...]]
"""For each sliced operand, the numbers of the rows that a slice takes alone."""


def rows_read(side: Side, node: Node) -> Rows:
    """Return which rows slices take for a product to read; none of other work."""
    if family_of(node.instruction) != "product":
        return frozenset()
    rows = (_row(side, operand) for operand in side.graph.operands(node))
    return frozenset(row for row in rows if row)


def read_other_rows(rows: Rows, others: Rows) -> bool:
    """Return whether two products read different rows: each reads one that the other does not."""
    return bool(rows - others) and bool(others - rows)


def _row(side: Side, operand: NodeElement) -> tuple[int, ...]:
    """Return the numbers of the dimensions of one element that a slice takes of more."""
    node, path = operand
    for _ in range(_LONGEST):
        read = side.graph.operands(node)[:1]
        if path or not read or node.instruction.opcode not in _PASSED:
            break
        node, path = read[0]
    line, sources = node.instruction, side.graph.operands(node)
    if path or line.opcode != "slice" or not sources or sources[0][1]:
        return ()
    bounds = _BOUNDS.findall(line.attributes.get("slice", ""))
    sizes = sources[0][0].instruction.shape.dimensions
    pairs = zip(bounds, sizes, strict=False)
    return tuple(int(first) for (first, end), size in pairs if _is_row(first, end) and size != 1)


def _is_row(first: str, end: str) -> bool:
    return int(end) - int(first) == 1
