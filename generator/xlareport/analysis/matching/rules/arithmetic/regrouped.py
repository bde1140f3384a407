"""A rule for sums of the same terms in another order: (4 - i) + -1 as (4 + -1) - i.

Likewise for products of the same factors: (x * 2) * y as x * (2 * y).
"""

from collections import Counter
from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.reasons import Regrouped, RegroupedPart
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import sole_pairs

_SIGNS = {"add": (1, 1), "subtract": (1, -1), "multiply": (1, 1)}
"""How each operand counts."""
_PRODUCT = "multiply"
_FEWEST_TERMS = 3
_MOST_TERMS = 16


def regrouped(search: Search) -> None:
    """Pair sums of the same terms, and of sums of three terms also the first of the two.

    And products of the same factors.
    """
    roots = [node for node in search.before.open() if _is_nested(search.before, node)]
    if not roots:
        return
    search.evaluate()
    new = _keyed(search.after, search.after.open())
    for node, other in sole_pairs(_keyed(search.before, roots), new):
        if is_free(node) and is_free(other):
            ours, theirs = _inner(search.before, node), _inner(search.after, other)
            factors = node.instruction.opcode == _PRODUCT
            search.link(node, other, Grade.MATCHED, Regrouped(factors))
            if len(ours) == len(theirs) == 1:
                names = other.instruction.name, node.instruction.name
                search.link(ours[0], theirs[0], Grade.MATCHED, RegroupedPart(*names, factors))


def _is_nested(side: Side, node: Node) -> bool:
    return node.instruction.opcode in _SIGNS and bool(_inner(side, node))


def _inner(side: Side, node: Node) -> list[Node]:
    """Return the operands of a sum that are sums for it alone."""
    operands = [operand for operand, path in side.graph.operands(node) if not path]
    return [operand for operand in operands if _is_part(side, operand, node)]


def _is_part(side: Side, node: Node, whole: Node) -> bool:
    """Return whether an operand is a sum for a sum alone, or a product for a product."""
    alone = side.has_one_user(node)
    return alone and is_free(node) and _are_of_one_kind(node, whole)


def _are_of_one_kind(node: Node, other: Node) -> bool:
    opcodes = {node.instruction.opcode, other.instruction.opcode}
    return opcodes <= _SIGNS.keys() and (_PRODUCT not in opcodes or len(opcodes) == 1)


def _keyed(side: Side, nodes: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield the outermost sums with their place, shape and terms as key."""
    for node in nodes:
        within = any(_is_part(side, node, user) for user, _ in side.users.get(node, ()))
        if _is_nested(side, node) and not within:
            terms = _terms(side, node)
            if len(terms) >= _FEWEST_TERMS:
                shape = node.instruction.shape
                factors = node.instruction.opcode == _PRODUCT
                yield (node.frame.number, shape.text, factors, frozenset(terms.items())), node


def _terms(side: Side, root: Node) -> Counter[int]:
    """Return how often each value is added, less than 0 if subtracted; empty where unknown."""
    terms: Counter[int] = Counter()
    waiting = [(root, 1)]
    for node, sign in waiting:
        signs = _SIGNS[node.instruction.opcode]
        for (operand, path), own in zip(side.graph.operands(node), signs, strict=False):
            if not path and _is_part(side, operand, root):
                waiting.append((operand, sign * own))
                continue
            token = side.value_of((operand, path))
            if token == UNKNOWN or len(waiting) > _MOST_TERMS:
                return Counter()
            terms[token] += sign * own
    return terms
