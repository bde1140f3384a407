"""Elementwise work on a result that is done on what the instruction reads now.

`add(x, scatter(zeros, i, u))` became `scatter(add(x, zeros), i, u)`: the add moved past the
scatter, whose result is what the add gave before.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_root, paired_users
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES
from xlareport.knowledge.opcodes import opcode_work

_ELEMENTWISE = opcode_work().by_element - MOVES
_NOT_PASSED = opcode_work().by_element | MOVES
_UNTOLD = (Relation.SAME, Relation.REPLACED)


def moved_work(search: Search) -> None:
    """Mark pairs of elementwise work as swapped, if its counterpart is read by what it read."""
    for link in search.links:
        if link.relation in _UNTOLD and _is_same_work(link):
            passed = next(_passed(search, link), None)
            if passed is not None:
                link.relation, link.reason = Relation.SWAPPED, Past(passed.instruction.name)


def _is_same_work(link: NodePair) -> bool:
    opcode = link.before.instruction.opcode
    return opcode in _ELEMENTWISE and opcode == link.after.instruction.opcode


def _passed(search: Search, link: NodePair) -> Iterator[Node]:
    """Yield what work read that reads its counterpart now, and whose result has its users."""
    for node, path in search.before.graph.operands(link.before):
        now = node.partner
        if path or now is None or node.instruction.opcode in _NOT_PASSED:
            continue
        if _reads(search.after, now, link.after) and _takes_over(search, link.before, now):
            yield node


def _takes_over(search: Search, work: Node, now: Node) -> bool:
    """Return whether another node gives now what some work gave, to a user or as the result."""
    if is_root(work):
        return is_root(now)
    return any(_reads(search.after, user, now) for _, user, _ in paired_users(work))


def _reads(side: Side, reader: Node, node: Node) -> bool:
    return any(operand is node and not path for operand, path in side.graph.operands(reader))
