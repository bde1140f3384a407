"""A rule for two divisions that became one by the product of the divisors: x/a/b as x/(a*b)."""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free, read_at
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import sole_pairs

_QUOTIENT, _PRODUCT = "divide", "multiply"
_TERMS = 2


def divided_once(search: Search) -> None:
    """Pair two divisions in a row with the one by the product of their divisors."""
    after = [node for node in search.after.open() if node.instruction.opcode == _QUOTIENT]
    before = [node for node in search.before.open() if node.instruction.opcode == _QUOTIENT]
    if not (before and after):
        return
    search.evaluate()
    old = _in_a_row(search.before, before)
    for pair, whole in sole_pairs(old, _by_products(search.after, after)):
        if is_free(whole) and all(map(is_free, pair)):
            reason = f"%{whole.instruction.name} divides by the product of their divisors"
            search.combine(list(pair), whole, Grade.MATCHED, reason)
            pair[0].token = whole.token


def _by_products(side: Side, quotients: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield divisions by a new product, with the values of the dividend and of both factors."""
    for node in quotients:
        product = read_at(side, node, 1)
        if product is None or not is_free(product) or product.instruction.opcode != _PRODUCT:
            continue
        read, factors = side.values.read(node), side.values.read(product)
        if len(read) == len(factors) == _TERMS:
            yield (read[0], *sorted(factors)), node


def _in_a_row(side: Side, quotients: list[Node]) -> Iterator[tuple[Hashable, tuple[Node, Node]]]:
    """Yield divisions of a quotient that nothing else reads, and that quotient, with values."""
    for node in quotients:
        inner = read_at(side, node, 0)
        if inner is None or not is_free(inner) or inner.instruction.opcode != _QUOTIENT:
            continue
        read, behind = side.values.read(node), side.values.read(inner)
        alone = side.has_one_user(inner)
        if alone and len(read) == len(behind) == _TERMS:
            yield (behind[0], *sorted((behind[1], read[1]))), (node, inner)
