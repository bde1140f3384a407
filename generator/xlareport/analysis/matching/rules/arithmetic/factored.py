"""A rule for products with common factors that became one product: x*a + x*b as x*(a + b)."""

from collections import Counter
from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import sole_pairs

_SUMS = frozenset({"add", "subtract"})
_PRODUCT = "multiply"
_TERMS = 2
_MOST_PRODUCTS = 16
"""Products in a row that are looked through."""


def factored(search: Search) -> None:
    """Pair a sum of products and these products with the product that has the sum as a factor."""
    products = [node for node in search.after.open() if _is_product(node)]
    sums = [node for node in search.before.open() if node.instruction.opcode in _SUMS]
    if not (products and sums):
        return
    search.evaluate()
    old = _keyed_sums(search.before, sums)
    for total, whole in sole_pairs(old, _keyed_products(search.after, products)):
        if is_free(total) and is_free(whole):
            _combine(search, total, whole)


def _combine(search: Search, total: Node, whole: Node) -> None:
    """Pair a sum, and the products that it alone needed, with the product."""
    terms = dict.fromkeys(node for node, _ in search.before.graph.operands(total))
    members = [total, *(part for term in terms for part in _free_factors(search.before, term))]
    reason = f"%{whole.instruction.name} has their common factors"
    search.combine(list(dict.fromkeys(members)), whole, Grade.MATCHED, reason)
    total.token = whole.token


def _keyed_products(side: Side, products: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield products of which a factor is a new sum, with sum, factors and terms as key."""
    for node in products:
        factors = _factors(side, node)
        for token, total in factors:
            if total.instruction.opcode in _SUMS and is_free(total):
                others = _count_factors(factors) - Counter([token])
                yield (
                    _sum_key(total, others, [Counter([term]) for term in side.values.read(total)]),
                    node,
                )


def _keyed_sums(side: Side, sums: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield sums of products that have common factors, with sum, factors and terms as key."""
    for node in sums:
        read = side.graph.operands(node)
        if len(read) != _TERMS or any(path or not _is_product(term) for term, path in read):
            continue
        terms = [_count_factors(_factors(side, term)) for term, _ in read]
        common = terms[0] & terms[-1]
        if common:
            yield from ((key, node) for key in _keys(node, common, terms))


def _count_factors(factors: list[tuple[int, Node]]) -> Counter[int]:
    return Counter(token for token, _ in factors)


def _keys(total: Node, common: Counter[int], terms: list[Counter[int]]) -> Iterator[Hashable]:
    """Yield the keys of a sum; of equal terms any factor may be the one that is added."""
    if terms[0] != terms[-1]:
        yield _sum_key(total, common, [term - common for term in terms])
        return
    for token in common:
        kept = Counter([token])
        yield _sum_key(total, common - kept, [kept, kept])


def _sum_key(total: Node, common: Counter[int], terms: list[Counter[int]]) -> Hashable:
    """Return the frame, the opcode of the sum, its common factors, and what it adds."""
    added = [tuple(sorted(term.elements())) for term in terms]
    opcode = total.instruction.opcode
    ordered = sorted(added) if opcode == "add" else added
    return total.frame.number, opcode, tuple(sorted(common.elements())), tuple(ordered)


def _factors(side: Side, product: Node) -> list[tuple[int, Node]]:
    """Return what a product multiplies, through products that differ: values and their nodes."""
    factors, waiting = list[tuple[int, Node]](), [product]
    for node in waiting:
        read = zip(side.graph.operands(node), side.values.read(node), strict=True)
        for (operand, path), token in read:
            through = not path and is_free(operand) and _is_product(operand)
            if through and len(waiting) < _MOST_PRODUCTS:
                waiting.append(operand)
            else:
                factors.append((token, operand))
    return factors


def _free_factors(side: Side, product: Node) -> Iterator[Node]:
    """Yield a free product and the free products that it multiplies, that nothing else reads."""
    waiting = [product]
    for part in waiting:
        if is_free(part) and _is_product(part) and len(waiting) < _MOST_PRODUCTS:
            yield part
            read = (node for node, _ in side.graph.operands(part))
            waiting += (node for node in read if side.has_one_user(node))


def _is_product(node: Node) -> bool:
    return node.instruction.opcode == _PRODUCT
