"""A rule for converts that passed a concatenation: one of its result, or one of each operand.

`convert(concatenate(a, b))` becomes `concatenate(convert(a), convert(b))`, or the reverse, also
where reshapes are between a convert and the concatenation.
"""

from collections.abc import Iterator, Mapping

from xlareport.analysis.matching.search.nodes import is_free, node_after, same_type
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.inputs import behind
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade

_FEWEST = 2
"""Converts on one side; of a single one, other rules know that it moved."""


def converted_pieces(search: Search) -> None:
    """Pair converts of the operands of a concatenation with that of its result, either way."""
    links = {link.before: link for link in search.links if _retypes(link)}
    if not links:
        return
    converts = {link.before: link for link in search.links if _is_convert(link.before)}
    for link in links.values():
        _split(search, link.before, link.after, converts)
        _combine(search, link.before, link.after)


def _retypes(link: NodePair) -> bool:
    """Return whether a concatenation has other element types now."""
    joins = link.before.instruction.opcode == link.after.instruction.opcode == "concatenate"
    return joins and not same_type(link.before, link.after)


def _split(search: Search, node: Node, other: Node, links: Mapping[Node, NodePair]) -> None:
    """Pair the convert of a former result with those of the operands now."""
    whole = _convert_of(search.before, node, other)
    if whole is None:
        return
    pairs = _operands(search, node, other, whole)
    pieces = [now for was, now in pairs if was is None and now is not None]
    reason = Past(node.instruction.name)
    if len(pieces) < _FEWEST:
        return
    if whole.partner in pieces and whole in links:
        link = links[whole]
        link.relation, link.reason = Relation.SPLIT, reason
    elif not is_free(whole) or not search.link(
        whole, pieces[0], Grade.MATCHED, reason, Relation.SPLIT
    ):
        return
    for piece in pieces:
        if piece is not whole.partner:
            search.extend(whole, piece)


def _combine(search: Search, node: Node, other: Node) -> None:
    """Pair the converts of former operands with that of the result now."""
    whole = _convert_of(search.after, other, node)
    if whole is None:
        return
    pairs = _operands(search, node, other, whole)
    pieces = [was for was, now in pairs if now is None and was is not None]
    if len(pieces) >= _FEWEST and (is_free(whole) or whole.partner in pieces):
        search.combine(pieces, whole, Grade.MATCHED, Past(node.instruction.name))


def _convert_of(side: Side, joined: Node, like: Node) -> Node | None:
    """Return a convert of a concatenation to the element type of its counterpart, a free one."""
    users = (user for user, _ in side.users.get(joined, ()))
    converts = [user for user in users if _is_convert(user) and same_type(user, like)]
    return min(converts, key=lambda node: not is_free(node), default=None)


def _operands(
    search: Search, node: Node, other: Node, whole: Node
) -> Iterator[tuple[Node | None, Node | None]]:
    """Yield the converts of the operands before and now, each of one value, else None.

    All are free, or paired with that of the whole.
    """
    former, reads = search.before.graph.operands(node), search.after.graph.operands(other)
    if len(former) != len(reads):
        return
    seen = set[Node]()
    for was, now in zip(former, reads, strict=True):
        old, source = _converted(search.before, was, whole)
        new, value = _converted(search.after, now, whole)
        if node_after(search, source) is value and seen.isdisjoint({old, new}):
            seen |= {known for known in (old, new) if known is not None}
            yield old, new


def _converted(side: Side, operand: NodeElement, whole: Node) -> tuple[Node | None, Node]:
    """Return the convert that an operand is of, behind moves, if any, and what that is of."""
    node = behind(side.graph, operand, REARRANGEMENTS)[0]
    read = side.graph.operands(node)
    if not _is_convert(node) or not read or not (is_free(node) or node.partner is whole):
        return None, node
    return node, behind(side.graph, read[0], REARRANGEMENTS)[0]


def _is_convert(node: Node) -> bool:
    line = node.instruction
    return line.opcode == "convert" and bool(line.operands) and not node.kept
