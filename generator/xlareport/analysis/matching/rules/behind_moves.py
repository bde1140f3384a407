"""A rule for operands that new converts and moves separate from their users."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import (
    is_free,
    node_after,
    origin,
    read_at,
    same_count,
    same_form,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade

_INSERTED = REARRANGEMENTS | {"convert"}
_LONGEST = 8
"""Converts and moves in a row that are looked behind."""


def behind_moves(search: Search) -> None:
    """Pair an operand with the same operation behind new converts or moves of it.

    A user of both is paired, and so are operands of both, or both repeat equal constants.
    """
    for node in reversed(search.before.open()):
        if node.instruction.opcode in _INSERTED or not is_free(node):
            continue
        is_same = _is_same_constant if node.constant else _is_same_work
        for user, other in _behind_operands(search, node):
            if is_same(search, node, other):
                reason = f"what %{user.instruction.name} reads, behind new moves or converts"
                search.link(node, other, Grade.MATCHED, reason)
                break


def _behind_operands(search: Search, node: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the paired users of a node, with what they read now behind new moves."""
    for user, place in search.before.users.get(node, ()):
        if user.partner is None or user.instruction.opcode == "parameter":
            continue
        other = read_at(search.after, user.partner, place)
        moved = other
        for _ in range(_LONGEST):
            if other is None or not is_free(other) or other.instruction.opcode not in _INSERTED:
                break
            other = read_at(search.after, other, 0)
        if other is not None and other is not moved:
            yield user, other


def _is_same_constant(search: Search, node: Node, other: Node) -> bool:
    """Return whether two free nodes are one constant, or repeat it in one shape for one op."""
    same = is_free(other) and node.token == other.token and same_form(search, node, other)
    return same and origin(node) == origin(other)


def _is_same_work(search: Search, node: Node, other: Node) -> bool:
    """Return whether two free nodes do the same operation on paired operands."""
    if not is_free(other) or node.instruction.opcode != other.instruction.opcode:
        return False
    if not search.divided and not same_count(node, other):
        return False
    read, now = search.before.graph.operands(node), search.after.graph.operands(other)
    if len(read) != len(now):
        return False
    pairs = [
        (node_after(search, operand), source)
        for (operand, path), (source, there) in zip(read, now, strict=True)
        if path == there and not (operand.constant and source.constant)
    ]
    return bool(pairs) and all(after is source for after, source in pairs)
