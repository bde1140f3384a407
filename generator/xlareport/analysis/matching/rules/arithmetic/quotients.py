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
    before = [node for node in search.before.open() if node.instruction.opcode == _QUOTIENT]
    rows = [row for node in before if (row := _row(search.before, node)) is not None]
    if not rows:
        return
    again = dict.fromkeys(inner.partner for _, inner in rows if inner.partner is not None)
    after = [
        node for node in (*search.after.open(), *again) if node.instruction.opcode == _QUOTIENT
    ]
    search.evaluate()
    old = _in_a_row(search.before, rows)
    known = [
        (row, whole)
        for row, whole in sole_pairs(old, _by_products(search.after, after))
        if is_free(row[0]) and (row[1].partner is whole or (is_free(row[1]) and is_free(whole)))
    ]
    wholes = {whole for _, whole in known if whole.partner is not None}
    search.unlink([link for link in search.links if link.after in wholes] if wholes else [])
    for row, whole in known:
        reason = f"%{whole.instruction.name} divides by the product of their divisors"
        search.combine(list(row), whole, Grade.MATCHED, reason)
        row[0].token = whole.token


def _by_products(side: Side, quotients: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield divisions by a new product, with the values of the dividend and of both factors."""
    for node in quotients:
        product = read_at(side, node, 1)
        if product is None or not is_free(product) or product.instruction.opcode != _PRODUCT:
            continue
        read, factors = side.values.read(node), side.values.read(product)
        if len(read) == len(factors) == _TERMS:
            yield (read[0], *sorted(factors)), node


def _row(side: Side, node: Node) -> tuple[Node, Node] | None:
    """Return a division of a quotient that nothing else reads, and that quotient."""
    inner = read_at(side, node, 0)
    if inner is None or inner.kept or inner.instruction.opcode != _QUOTIENT:
        return None
    return (node, inner) if side.has_one_user(inner) else None


def _in_a_row(
    side: Side, rows: list[tuple[Node, Node]]
) -> Iterator[tuple[Hashable, tuple[Node, Node]]]:
    """Yield two divisions in a row with the values of the dividend and of both divisors."""
    for node, inner in rows:
        read, behind = side.values.read(node), side.values.read(inner)
        if len(read) == len(behind) == _TERMS:
            yield (behind[0], *sorted((behind[1], read[1]))), (node, inner)
