"""New slices that take the result of one of several joined operations out of their whole."""

from collections.abc import Iterable, Mapping

from xlareport.analysis.matching.search.nodes import place_of, read_at
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import TakenOut
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node

_SLICE = "slice"
_DEEPEST = 8
"""Slices of slices that are followed to what they are of."""
_MOST_READERS = 100


def list_joined(links: Iterable[NodePair]) -> Mapping[Node, Node]:
    """Return what each of the joined operations became, where several became one."""
    return {link.before: link.after for link in links if link.relation is Relation.COMBINED}


def taken_out(search: Search, joined: Mapping[Node, Node], node: Node) -> TakenOut | None:
    """Return which former result a new slice takes out of what; None if that is not known.

    A reader of the slice read the result before, and its operation was joined with others.
    """
    whole = _sliced(search, node) if joined else None
    for user, position in search.after.users.get(node, ())[:_MOST_READERS] if whole else ():
        read = None if user.partner is None else read_at(search.before, user.partner, position)
        if whole is not None and read is not None and joined.get(read) is whole:
            return TakenOut(*place_of(read), whole.instruction.name)
    return None


def _sliced(search: Search, node: Node) -> Node | None:
    """Return what a slice is of, behind other slices; None of other nodes."""
    for _ in range(_DEEPEST):
        operands = search.after.graph.operands(node)
        if node.instruction.opcode != _SLICE or len(operands) != 1 or operands[0][1]:
            return None
        node = operands[0][0]
        if node.instruction.opcode != _SLICE:
            return node
    return None
