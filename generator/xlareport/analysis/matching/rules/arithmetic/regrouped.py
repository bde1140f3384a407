"""A rule for sums of the same terms in another order: (4 - i) + -1 as (4 + -1) - i."""

from collections import Counter
from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.reasons import Regrouped, RegroupedPart
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.grouping import group_by_key
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.knowledge.grades import Grade

_SIGNS = {"add": (1, 1), "subtract": (1, -1)}
"""How each operand counts."""
_FEWEST_TERMS = 3
_MOST_TERMS = 16


def regrouped(search: Search) -> None:
    """Pair sums of the same terms, and of sums of three terms also the first of the two."""
    roots = [node for node in search.before.open() if _is_nested(search.before, node)]
    if not roots:
        return
    search.evaluate()
    old = group_by_key(_keyed(search.before, roots))
    new = group_by_key(_keyed(search.after, search.after.open()))
    for key, nodes in old.items():
        others = new.get(key, ())
        if len(nodes) == len(others) == 1 and is_free(nodes[0]) and is_free(others[0]):
            inner, other = _inner(search.before, nodes[0]), _inner(search.after, others[0])
            search.link(nodes[0], others[0], Grade.MATCHED, Regrouped())
            if len(inner) == len(other) == 1:
                names = others[0].instruction.name, nodes[0].instruction.name
                search.link(inner[0], other[0], Grade.MATCHED, RegroupedPart(*names))


def _is_nested(side: Side, node: Node) -> bool:
    return node.instruction.opcode in _SIGNS and bool(_inner(side, node))


def _inner(side: Side, node: Node) -> list[Node]:
    """Return the operands of a sum that are sums for it alone."""
    operands = [operand for operand, path in side.graph.operands(node) if not path]
    return [operand for operand in operands if _is_part(side, operand)]


def _is_part(side: Side, node: Node) -> bool:
    alone = len(side.users.get(node, ())) == 1
    return alone and is_free(node) and node.instruction.opcode in _SIGNS


def _keyed(side: Side, nodes: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield the outermost sums with their place, shape and terms as key."""
    for node in nodes:
        within = [user for user, _ in side.users.get(node, ()) if user.instruction.opcode in _SIGNS]
        if _is_nested(side, node) and not (within and _is_part(side, node)):
            terms = _terms(side, node)
            if len(terms) >= _FEWEST_TERMS:
                shape = node.instruction.shape
                yield (node.frame.number, shape.text, frozenset(terms.items())), node


def _terms(side: Side, root: Node) -> Counter[int]:
    """Return how often each value is added, less than 0 if subtracted; empty where unknown."""
    terms: Counter[int] = Counter()
    waiting = [(root, 1)]
    for node, sign in waiting:
        signs = _SIGNS[node.instruction.opcode]
        for (operand, path), own in zip(side.graph.operands(node), signs, strict=False):
            if not path and _is_part(side, operand):
                waiting.append((operand, sign * own))
                continue
            side.values.value_of(operand)
            token = side.values.element(operand, path)
            if token == UNKNOWN or len(waiting) > _MOST_TERMS:
                return Counter()
            terms[token] += sign * own
    return terms
