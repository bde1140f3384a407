"""Elementwise work on a result that is done on what the instruction reads now.

`add(x, scatter(zeros, i, u))` became `scatter(add(x, zeros), i, u)`: the add moved past the
scatter, whose result is what the add gave before.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free, is_root, paired_users
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import opcode_work

_ELEMENTWISE = opcode_work().by_element - MOVES
_NOT_PASSED = opcode_work().by_element | MOVES
_UNTOLD = (Relation.SAME, Relation.REPLACED)


def passed_work(search: Search) -> None:
    """Pair removed work on a result with the same work on what the instruction read.

    Of several such works that are equal, the instruction that reads each tells them apart.
    """
    if not any(node.instruction.opcode in _ELEMENTWISE for node in search.after.open()):
        return
    search.evaluate()
    for link in list(search.links):
        if link.before.instruction.opcode not in _NOT_PASSED:
            for work, now in _same_beside(search, link):
                reason = Past(link.before.instruction.name)
                if is_free(work) and is_free(now):
                    search.link(work, now, Grade.MATCHED, reason, Relation.SWAPPED)


def _same_beside(search: Search, link: NodePair) -> Iterator[tuple[Node, Node]]:
    """Yield work on a result, and the same work on an operand that the counterpart reads."""
    former = search.before.graph.operands(link.before)
    reads = search.after.graph.operands(link.after)
    for operand, (now, path) in zip(former, reads, strict=False):
        if path or not is_free(now) or now.instruction.opcode not in _ELEMENTWISE:
            continue
        beside = _others(search.after, now, search.before.value_of(operand))
        for work, _ in search.before.users.get(link.before, ()) if beside else ():
            alike = work.instruction.opcode == now.instruction.opcode and is_free(work)
            values = _others(search.before, work, link.before.token) if alike else None
            if values == beside and _takes_over(search, work, link.after):
                yield work, now


def _others(side: Side, work: Node, value: int) -> list[int] | None:
    """Return the values that work reads beside a value; None where it does not read that.

    None at all beside it where the work is a conversion or the like: other rules pair these.
    """
    read = [side.value_of(operand) for operand in side.graph.operands(work)]
    if value not in read:
        return None
    read.remove(value)
    return read


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
