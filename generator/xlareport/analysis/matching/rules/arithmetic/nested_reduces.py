"""A rule for a reduce of a reduce that became one reduce over the dimensions of both."""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.grouping import group_by_key
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade

_REDUCE = "reduce"


def merged_reduces(search: Search) -> None:
    """Combine a reduce and the reduce that it reads into one over the same value."""
    wholes = [node for node in search.after.open() if _is_reduce(node)]
    nested = list(_nested(search.before)) if wholes else []
    if not nested:
        return
    search.evaluate()
    pairs = group_by_key(
        (_key(search.before, *pair, sum(map(_count_dimensions, pair))), pair) for pair in nested
    )
    for whole in wholes:
        key = _key(search.after, whole, whole, _count_dimensions(whole))
        members = next((pair for pair in pairs.get(key, ()) if all(map(is_free, pair))), None)
        if members is not None and is_free(whole):
            reason = f"%{whole.instruction.name} reduces the dimensions of both"
            search.combine(members, whole, Grade.MATCHED, reason)
            members[0].token = whole.token


def _nested(side: Side) -> Iterator[tuple[Node, Node]]:
    """Yield each open reduce that reads another one, which has no other users, and that."""
    for outer in side.open():
        operands = side.graph.operands(outer) if _is_reduce(outer) else ()
        if operands and not operands[0][1] and _is_reduce(operands[0][0]):
            inner = operands[0][0]
            if is_free(inner) and side.has_one_user(inner):
                yield outer, inner


def _is_reduce(node: Node) -> bool:
    line = node.instruction
    return line.opcode == _REDUCE and not line.shape.elements


def _count_dimensions(node: Node) -> int:
    return node.instruction.attributes.get("dimensions", "").count(",") + 1


def _key(side: Side, outer: Node, inner: Node, count: int) -> Hashable:
    """Return the place, the result's shape, the number of dimensions and the value reduced."""
    shape = outer.instruction.shape
    value = side.value_of(side.graph.operands(inner)[0])
    return outer.frame.number, shape.element_type, shape.dimensions, count, value
