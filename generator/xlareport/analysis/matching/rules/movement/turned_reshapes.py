"""A rule for transposes that a reshape of their result stands before now.

`reshape(transpose(x))` became `transpose(reshape(x))`: the transpose has other dimensions, of which
some were several before, or became several.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free, node_after, read_at, same_count
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import SAME_ORDER
from xlareport.knowledge.grades import Grade

_TRANSPOSE = "transpose"
_MOST_RESHAPES = 4
"""Reshapes in a row that are looked behind."""


def turned_reshapes(search: Search) -> None:
    """Pair a transpose that was reshaped for a known reader with that of a reshape, read now."""
    for node in search.before.open():
        if node.instruction.opcode == _TRANSPOSE and is_free(node):
            for other, passed in _read_now(search, node):
                source, now = (_source(*pair) for pair in _sides(search, node, other))
                known = source is not None and node_after(search, source) is now
                if known and same_count(node, other):
                    reason = Past(passed.instruction.name)
                    search.link(node, other, Grade.MATCHED, reason, Relation.SWAPPED)
                    break


def _sides(search: Search, node: Node, other: Node) -> tuple[tuple[Side, Node], tuple[Side, Node]]:
    return (search.before, node), (search.after, other)


def _read_now(search: Search, node: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the free transposes that readers of a transpose, behind a reshape, read in its place.

    Each with the reshape.
    """
    for reshape, _ in search.before.users.get(node, ()):
        if reshape.instruction.opcode not in SAME_ORDER or not is_free(reshape):
            continue
        for user, position in search.before.users.get(reshape, ()):
            now = None if user.partner is None else read_at(search.after, user.partner, position)
            if now is not None and is_free(now) and now.instruction.opcode == _TRANSPOSE:
                yield now, reshape


def _source(side: Side, node: Node) -> Node | None:
    """Return what a transpose reads, behind reshapes; None of an element of a tuple."""
    for _ in range(_MOST_RESHAPES):
        operands = side.graph.operands(node)
        if len(operands) != 1 or operands[0][1]:
            return None
        node = operands[0][0]
        if node.instruction.opcode not in SAME_ORDER:
            break
    return node
