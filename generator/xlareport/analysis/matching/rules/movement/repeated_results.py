"""Elementwise work that is known to be done before its data is repeated now, and what repeats it.

`f(broadcast(x), broadcast(c))` became `broadcast(f(x, c))`: the new broadcast repeats another value
than the former ones, which may be left unread.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.inputs import behind
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES
from xlareport.knowledge.grades import Grade
from xlareport.knowledge.opcodes import opcode_work

_ELEMENTWISE = opcode_work().by_element - MOVES
_BROADCAST = "broadcast"
_OPERAND = "what repeats the same value, on fewer elements"


def repeated_results(search: Search) -> None:
    """Tell paired work on fewer elements as moved past the broadcasts that it read."""
    moved = [link for link in search.links if _is_on_fewer(link)]
    if not moved:
        return
    search.evaluate()
    by_node = {link.after: link for link in search.links}
    for link in moved:
        former = _former(search, link)
        repeated = _results(search.after, link)
        if former and repeated:
            paired = [
                _mark_repeated(search, link, former, node, by_node.get(node)) for node in repeated
            ]
            if not any(paired) and link.relation in _UNTOLD:
                link.relation, link.reason = Relation.SWAPPED, Past(former[0].instruction.name)
            _link_operands(search, link)


_UNTOLD = (Relation.SAME, Relation.REPLACED)


def _is_on_fewer(link: NodePair) -> bool:
    """Return whether a pair is of one elementwise operation, on fewer elements now."""
    line, known = link.before.instruction, link.after.instruction
    if line.opcode not in _ELEMENTWISE or line.opcode != known.opcode or link.before.constant:
        return False
    count, former = known.shape.element_count, line.shape.element_count
    return count is not None and former is not None and count < former


def _former(search: Search, link: NodePair) -> list[Node]:
    """Return the broadcasts that work read, of the values that it reads now: of data first."""
    read = {
        value
        for node, path in search.after.graph.operands(link.after)
        if not path
        for value in (node.token, *_source(search.after, node))
    }
    former = [
        node
        for node, path in search.before.graph.operands(link.before)
        if not path and not read.isdisjoint(_source(search.before, node))
    ]
    return sorted(former, key=lambda node: node.constant)


def _source(side: Side, node: Node) -> list[int]:
    """Return the value that a broadcast repeats, and the constant behind it; none for others."""
    if node.instruction.opcode != _BROADCAST:
        return []
    constant = [behind(side.graph, (node, ()), MOVES)[0].token] if node.constant else []
    return side.values.read(node)[:1] + constant


def _results(side: Side, link: NodePair) -> list[Node]:
    """Return the broadcasts that give the result of work its former dimensions."""
    dimensions = link.before.instruction.shape.dimensions
    return [
        user
        for user, _ in side.users.get(link.after, ())
        if user.instruction.opcode == _BROADCAST and user.instruction.shape.dimensions == dimensions
    ]


def _mark_repeated(
    search: Search, work: NodePair, former: list[Node], repeated: Node, known: NodePair | None
) -> bool:
    """Tell what repeats the result of work as a former broadcast; return whether it is its pair."""
    past = Past(work.before.instruction.name)
    if known is not None and known.before in former:
        if known.relation in _UNTOLD:
            known.relation, known.reason = Relation.SWAPPED, past
        return known.relation is Relation.SWAPPED
    if not is_free(repeated) or repeated in search.copies:
        return False
    if any(
        search.link(node, repeated, Grade.MATCHED, past, Relation.SWAPPED)
        for node in former
        if is_free(node)
    ):
        return True
    search.copies[repeated] = former[0], Past(past.instruction, of_copy=True)
    return False


def _link_operands(search: Search, link: NodePair) -> None:
    """Pair what repeats an operand of work with what repeats it for fewer elements."""
    for node, other in _operands(search, link):
        if is_free(node) and is_free(other) and other not in search.copies:
            search.link(node, other, Grade.MATCHED, _OPERAND)


def _operands(search: Search, link: NodePair) -> Iterator[tuple[Node, Node]]:
    ours = search.before.graph.operands(link.before)
    theirs = search.after.graph.operands(link.after)
    for (node, path), (other, other_path) in zip(ours, theirs, strict=False):
        source = _source(search.before, node)
        if not (path or other_path) and source[-1:] == _source(search.after, other)[-1:] != []:
            yield node, other
