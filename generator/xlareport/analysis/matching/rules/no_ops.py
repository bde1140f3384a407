"""Operations that give an operand as it is, which passes remove: what continues is the operand."""

from xlareport.analysis.matching.rules.stand_ins import PASSING, RESHAPES
from xlareport.analysis.matching.search.nodes import (
    is_free,
    read_at,
    read_behind_moves,
    same_form,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, opcode_of
from xlareport.analysis.matching.sides.passed import beside_neutral, reduces_nothing
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_MOST_NEUTRAL = 8
"""Operations beside a neutral constant, in a row, that are looked behind."""


def behind_no_op(side: Side, node: Node, other: Node) -> Node:
    """Return the free operand whose value a node has, unless `other` does the same as the node.

    A broadcast to the dimensions that are there, a select between a value and itself, a reduction
    of dimensions of one element, or a copy to a layout that is no longer asked for. Of a sum with
    0, the operand even if it is not free: the sum itself goes on nowhere.
    """
    value = behind_neutral(side, node, other)
    if value is not node:
        return value
    if opcode_of(node) == "copy":
        return _in_former_layout(side, node, other) or node
    if opcode_of(node) == "reduce" and opcode_of(other) not in {"reduce", *REARRANGEMENTS}:
        read = read_at(side, node, 0) if reduces_nothing(side, node) else None
        alike = read is not None and is_free(read) and opcode_of(read) == opcode_of(other)
        return read if read is not None and alike else node
    values = side.graph.operands(node)[-2:]
    is_no_op = opcode_of(node) in {"broadcast", "select"} and opcode_of(node) != opcode_of(other)
    if not is_no_op or not values:
        return node
    (source, path), same = values[0], len(set(values)) == 1
    old, new = source.instruction.shape, node.instruction.shape
    alike = (old.element_type, old.dimensions) == (new.element_type, new.dimensions)
    return source if same and alike and not path and is_free(source) else node


def behind_neutral(side: Side, node: Node, other: Node) -> Node:
    """Return the operand whose value sums with 0 have, unless `other` does the same as they.

    A sum over one element has the value of what it reads, and becomes no work on that.
    """
    if reduces_nothing(side, node) and opcode_of(other) not in PASSING | {"reduce"}:
        return read_behind_moves(side, node) or node
    for _ in range(_MOST_NEUTRAL):
        place = beside_neutral(side, node) if opcode_of(node) != opcode_of(other) else None
        if place is None:
            break
        node = side.graph.operands(node)[place][0]
    return node


def behind_identity(search: Search, node: Node, other: Node) -> Node:
    """Return the operand of the same form whose value a product with 1 has, or a sum with 0.

    The node itself where a constant beside the operand of `other` changes as little, or where that
    is one. A pass that removes such a product keeps what it read.
    """
    alike = opcode_of(node) == opcode_of(other) and is_free(node) and is_free(other)
    place = beside_neutral(search.before, node) if alike else None
    if place is None or beside_neutral(search.after, other) is not None:
        return node
    source, path = search.before.graph.operands(node)[place]
    numbers = [read.constant for read, _ in search.after.graph.operands(other)]
    same = not path and is_free(source) and same_form(search, source, other)
    return source if same and not any(numbers) else node


def behind_idle_bitcasts(side: Side, node: Node) -> Node:
    """Return the free bitcast whose value bitcasts give that change neither shape nor layout.

    Passes of the TPU put such bitcasts in fusions of their own, before what a convolution reads.
    """
    for _ in range(_MOST_NEUTRAL):
        read = read_at(side, node, 0) if opcode_of(node) == _BITCAST else None
        same = read is not None and read.instruction.shape.text == node.instruction.shape.text
        if read is None or not same or opcode_of(read) != _BITCAST or not is_free(read):
            break
        node = read
    return node


_BITCAST = "bitcast"


def _in_former_layout(side: Side, copy: Node, other: Node) -> Node | None:
    """Return the free move that a copy read, if another move now gives what that gave, uncopied."""
    source = read_at(side, copy, 0)
    if source is None or not is_free(source) or not {*map(opcode_of, (source, other))} <= RESHAPES:
        return None
    same = source.instruction.shape == other.instruction.shape != copy.instruction.shape
    return source if same else None
