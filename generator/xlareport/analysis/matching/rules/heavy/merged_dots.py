"""A rule for dots that share an operand and became one dot of their concatenated other operands.

The result of the new dot is the concatenation of the old results; slices extract these.
"""

from collections import deque
from collections.abc import Hashable

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade

_OPERANDS = 2
_MOST_PIECES = 1000
"""Limit on concatenated operands that are searched for one dot."""

_Waiting = dict[Hashable, deque[Node]]


def merged(search: Search) -> None:
    """Pair dots with the one dot that does the work of all of them."""
    wholes = [
        node
        for node in search.after.open()
        if _concatenated_operand(search.after, node) is not None
    ]
    if not wholes:
        return
    search.evaluate()
    waiting: _Waiting = {}
    for node in search.before.open():
        if _is_dot(node):
            tokens = search.before.values.read(node)
            waiting.setdefault(_dot_key(node, tokens), deque()).append(node)
    for whole in wholes:
        _merge(search, whole, waiting)


def _is_dot(node: Node) -> bool:
    line = node.instruction
    return line.opcode == "dot" and len(line.operands) == _OPERANDS


def _dot_key(node: Node, tokens: list[int]) -> Hashable:
    """Return a key of a dot: the value numbers of its operands and its dimension numbers."""
    attributes = node.instruction.attributes
    return (*tokens, *(attributes.get(name, "") for name in DIMENSIONS))


DIMENSIONS = (
    "lhs_batch_dims",
    "lhs_contracting_dims",
    "rhs_batch_dims",
    "rhs_contracting_dims",
    "operand_precision",
)
"""Attributes of a dot that say which products it adds up."""


def _concatenated_operand(side: Side, node: Node) -> int | None:
    """Return which operand of a dot is a concatenation that is only after; None for none."""
    operands = side.graph.operands(node) if _is_dot(node) else ()
    known = (
        number
        for number, (operand, _) in enumerate(operands)
        if operand.instruction.opcode == "concatenate" and is_free(operand)
    )
    return next(known, None)


def _merge(search: Search, whole: Node, waiting: _Waiting) -> None:
    side = search.after
    number = _concatenated_operand(side, whole)
    tokens = side.values.read(whole)
    if number is None or len(tokens) != _OPERANDS:
        return
    keys = []
    for piece in _pieces(side, side.graph.operands(whole)[number][0]):
        tokens[number] = piece
        keys.append(_dot_key(whole, tokens))
    queues = [waiting.get(key) for key in keys]
    members = [queue[0] for queue in queues if queue]
    distinct = len(set(members)) == len(queues) > 1
    if distinct and sum(map(_element_count, members)) == _element_count(whole) > 0:
        for queue in queues:
            if queue:
                queue.popleft()
        reason = f"%{whole.instruction.name} multiplies their {len(members)} operands, concatenated"
        search.combine(members, whole, Grade.MATCHED, reason)


def _element_count(node: Node) -> int:
    """Return the number of elements; only side by side do those of several dots add up."""
    return node.instruction.shape.element_count or 0


def _pieces(side: Side, joined: Node) -> list[int]:
    """Return the values that were concatenated, in order, through concatenations of such."""
    pieces: list[int] = []
    waiting = [(joined, joined.token)]
    while waiting and len(pieces) + len(waiting) <= _MOST_PIECES:
        node, token = waiting.pop()
        if node.instruction.opcode == "concatenate" and is_free(node):
            operands = [operand for operand, _ in side.graph.operands(node)]
            waiting += reversed(list(zip(operands, side.values.read(node), strict=True)))
        else:
            pieces.append(token)
    return pieces if not waiting else []
