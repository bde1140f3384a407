"""A rule for iotas that are read behind other moves now: repeated before, and after now."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES
from xlareport.knowledge.grades import Grade

_IOTA = "iota"
_MOST_MOVES = 4
"""Moves in a row that are looked through."""
_REASON = "the same iota, read behind other moves by an instruction with a known counterpart"


def same_iotas(search: Search) -> None:
    """Pair an iota with the equal one that the counterpart of a reader reads behind moves."""
    if not any(node.instruction.opcode == _IOTA for node in search.after.open()):
        return
    for node in search.before.open():
        if node.instruction.opcode == _IOTA:
            other = next(_read_now(search, node), None)
            if other is not None:
                search.link(node, other, Grade.MATCHED, _REASON)


def _read_now(search: Search, node: Node) -> Iterator[Node]:
    """Yield the free iotas of a node's form that counterparts of its readers read."""
    form = search.forms.of(node.instruction)
    waiting = [(node, 0)]
    for value, depth in waiting:
        for user, position in search.before.users.get(value, ()):
            now = user.partner
            other = None if now is None else _behind_moves(search.after, now, position)
            if other is not None and is_free(other) and search.forms.of(other.instruction) == form:
                yield other
            if user.instruction.opcode in MOVES and depth < _MOST_MOVES:
                waiting.append((user, depth + 1))


def _behind_moves(side: Side, reader: Node, position: int) -> Node | None:
    """Return the iota that a reader reads at a position, behind what only moves its elements."""
    operands = side.graph.operands(reader)
    if position >= len(operands) or operands[position][1]:
        return None
    return iota_behind(side, operands[position][0])


def iota_behind(side: Side, node: Node) -> Node | None:
    """Return a node that is an iota, or the iota whose elements it only moves; else None."""
    for _ in range(_MOST_MOVES):
        if node.instruction.opcode not in MOVES:
            return node if node.instruction.opcode == _IOTA else None
        operands = side.graph.operands(node)
        if not operands or operands[0][1]:
            return None
        node = operands[0][0]
    return None
