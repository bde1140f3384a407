"""A rule for a minimum and a maximum that were combined into a clamp."""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade

_OTHER = {"maximum": "minimum", "minimum": "maximum"}
_BOUNDS_AND_VALUE = 3


def clamped(search: Search) -> None:
    """Pair a minimum of a maximum, or the reverse, with the clamp of the same value and bounds."""
    wholes = [node for node in search.after.open() if node.instruction.opcode == "clamp"]
    if not wholes:
        return
    search.evaluate()
    pairs = {key: pair for node in search.before.open() for key, pair in _pairs(search, node)}
    for whole in wholes:
        values = frozenset(_values(search.after, search.after.graph.operands(whole)))
        members = pairs.get((whole.frame.number, values), ())
        if members and all(map(is_free, members)):
            reason = f"%{whole.instruction.name} clamps to both bounds"
            search.combine(members, whole, Grade.MATCHED, reason)
            members[0].token = whole.token


def _pairs(search: Search, node: Node) -> Iterator[tuple[Hashable, tuple[Node, Node]]]:
    """Yield the bounds and the value of a node that reads its counterpart, and both."""
    side = search.before
    operands = side.graph.operands(node)
    for position, (inner, _) in enumerate(operands):
        if inner.instruction.opcode == _OTHER.get(node.instruction.opcode) and is_free(inner):
            others = operands[:position] + operands[position + 1 :]
            values = frozenset(_values(side, (*others, *side.graph.operands(inner))))
            if len(values) == _BOUNDS_AND_VALUE:
                yield (node.frame.number, values), (node, inner)


def _values(side: Side, operands: tuple[NodeElement, ...]) -> Iterator[int]:
    """Yield the value numbers of operands, before broadcasts: a clamp broadcasts scalars itself."""
    for operand, _ in operands:
        node = operand
        if node.instruction.opcode == "broadcast" and side.graph.operands(node):
            node = side.graph.operands(node)[0][0]
        yield side.values.value_of(node)
