"""A rule for sums of the same terms in another order: (4 - i) + -1 as (4 + -1) - i.

Likewise for products of the same factors: (x * 2) * y as x * (2 * y), also where a product is
repeated: (x * broadcast(2)) * broadcast(y) as x * broadcast(2 * y).
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import TypeAlias

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.reasons import PartOfRegrouped, Regrouped
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import sole_pairs

_SIGNS = {"add": (1, 1), "subtract": (1, -1), "multiply": (1, 1)}
"""How each operand counts."""
_PRODUCT = "multiply"
_FEWEST_TERMS = 3
_MOST_TERMS = 16
_MOST_BROADCASTS = 4
_Places: TypeAlias = tuple[int, ...] | None
"""Which dimensions of a product those of a factor are; None of a factor that is not repeated."""


def regrouped(search: Search) -> None:
    """Pair sums of the same terms, and products of the same factors.

    The sums within them are of other terms, and are no pairs.
    """
    roots = [node for node in search.before.open() if _is_nested(search.before, node)]
    if not roots:
        return
    search.evaluate()
    new = _keyed(search.after, search.after.open())
    for node, other in sole_pairs(_keyed(search.before, roots), new):
        if is_free(node) and is_free(other):
            factors = node.instruction.opcode == _PRODUCT
            if search.link(node, other, Grade.MATCHED, Regrouped(factors)):
                _note_parts(search, node, other)


def regrouped_apart(search: Search) -> None:
    """Tell paired sums that add the terms of one and of a sum that it reads in another order.

    `x + a + b` became `x + (a + b)`, and others may go on reading `x + a`.
    """
    for link in search.links:
        node, other = link.before, link.after
        if node.instruction.opcode not in _SIGNS or not _are_of_one_kind(node, other):
            continue
        if node.frame.number != other.frame.number:
            continue  # a fusion has copies of what its work reads
        parts = _inner(search.after, other)
        if not parts or any(map(search.regrouped.__contains__, (other, *parts))):
            continue
        alone = _inner(search.before, node)
        terms = _terms(search.before, node) if alone else _opened(search.before, node)
        if terms.total() >= _FEWEST_TERMS and terms == _terms(search.after, other):
            link.reason = Regrouped(node.instruction.opcode == _PRODUCT)
            _note_parts(search, node, other)


def _note_parts(search: Search, node: Node, other: Node) -> None:
    """Note what the sums or products within an old one and its counterpart are part of."""
    words = _words(node, other)
    former, parts = _all_inner(search.before, node), _all_inner(search.after, other)
    search.regrouped.update(dict.fromkeys(former, words))
    search.regrouped_into.update(dict.fromkeys(former, other))
    search.regrouped.update(dict.fromkeys(parts, PartOfRegrouped(words)))


def _opened(side: Side, node: Node) -> Counter[Hashable]:
    """Return the terms of a sum and of those operands that are sums, whoever else reads these."""
    terms: Counter[Hashable] = Counter()
    for known, there, sign in _behind_each(side, node, node, None):
        within = not known[1] and _are_of_one_kind(known[0], node)
        inner = _behind_each(side, known[0], node, there) if within else [(known, there, 1)]
        for term, places, own in inner:
            terms[side.value_of(term), places] += sign * own
            if side.value_of(term) == UNKNOWN:
                return Counter()
    return terms


def _behind_each(
    side: Side, node: Node, whole: Node, places: _Places
) -> Iterator[tuple[NodeElement, _Places, int]]:
    """Yield what each operand of a sum or product repeats, its dimensions there, and its sign."""
    for operand, sign in zip(
        side.graph.operands(node), _SIGNS[node.instruction.opcode], strict=False
    ):
        known, there, _ = _behind_broadcasts(side, operand, whole, places)
        yield known, there, sign


def _words(node: Node, other: Node) -> str:
    """Return which sum or product has the terms of which before; of one name that once."""
    name, former = other.instruction.name, node.instruction.name
    product = node.instruction.opcode == _PRODUCT
    does, terms = ("multiplies", "factors") if product else ("adds", "terms")
    which = f"the same {terms}" if name == former else f"the {terms} of %{former}"
    return f"%{name}, which {does} {which} in another order"


def _is_nested(side: Side, node: Node) -> bool:
    return node.instruction.opcode in _SIGNS and bool(_inner(side, node))


def _inner(side: Side, node: Node) -> list[Node]:
    """Return the operands of a sum that are sums for it alone, of a product also repeated ones."""
    operands = side.graph.operands(node)
    behind = [_behind_broadcasts(side, operand, node, None) for operand in operands]
    return [known[0] for known, _, alone in behind if alone and _is_within(side, known, node)]


def _all_inner(side: Side, node: Node) -> list[Node]:
    """Return the sums within a sum, and those within these, up to a limit."""
    inner = _inner(side, node)
    for known in inner:  # which grows
        if len(inner) < _MOST_TERMS:
            inner += _inner(side, known)
    return inner


def _is_within(side: Side, operand: NodeElement, whole: Node) -> bool:
    return not operand[1] and _is_part(side, operand[0], whole)


def _is_part(side: Side, node: Node, whole: Node) -> bool:
    """Return whether an operand is a sum for a sum alone, or a product for a product."""
    alone = side.has_one_user(node)
    return alone and is_free(node) and _are_of_one_kind(node, whole)


def _are_of_one_kind(node: Node, other: Node) -> bool:
    opcodes = {node.instruction.opcode, other.instruction.opcode}
    return opcodes <= _SIGNS.keys() and (_PRODUCT not in opcodes or len(opcodes) == 1)


def _behind_broadcasts(
    side: Side, operand: NodeElement, whole: Node, places: _Places
) -> tuple[NodeElement, _Places, bool]:
    """Return what an operand of a product repeats, its dimensions there, and whether for it alone.

    Of a sum the operand itself.
    """
    alone = True
    for _ in range(_MOST_BROADCASTS if whole.instruction.opcode == _PRODUCT else 0):
        node, path = operand
        repeated = side.graph.operands(node)
        if path or node.instruction.opcode != "broadcast" or not repeated:
            break
        numbers = dimension_numbers(node.instruction)
        if places is not None and any(number >= len(places) for number in numbers):
            break
        places = tuple(numbers if places is None else [places[number] for number in numbers])
        alone = alone and side.has_one_user(node)
        operand = repeated[0]
    return operand, places, alone


def _keyed(side: Side, nodes: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield the outermost sums with their place, shape and terms as key."""
    for node in nodes:
        if _is_nested(side, node) and not any(
            node in _inner(side, user) for user in _users(side, node)
        ):
            terms = _terms(side, node)
            if len(terms) >= _FEWEST_TERMS:
                shape = node.instruction.shape
                factors = node.instruction.opcode == _PRODUCT
                yield (node.frame.number, shape.text, factors, frozenset(terms.items())), node


def _users(side: Side, node: Node) -> Iterator[Node]:
    """Yield the sums and products that read a node, perhaps repeated."""
    waiting = [node]
    for read in waiting[:_MOST_TERMS]:
        for user, _ in side.users.get(read, ()):
            if user.instruction.opcode in _SIGNS:
                yield user
            elif user.instruction.opcode == "broadcast":
                waiting.append(user)


def _terms(side: Side, root: Node) -> Counter[Hashable]:
    """Return how often each value is added, less than 0 if subtracted; empty where unknown."""
    terms: Counter[Hashable] = Counter()
    waiting: list[tuple[Node, int, _Places]] = [(root, 1, None)]
    for node, sign, places in waiting:
        signs = _SIGNS[node.instruction.opcode]
        for operand, own in zip(side.graph.operands(node), signs, strict=False):
            known, there, alone = _behind_broadcasts(side, operand, root, places)
            if alone and _is_within(side, known, root):
                waiting.append((known[0], sign * own, there))
                continue
            token = side.value_of(known)
            if token == UNKNOWN or len(waiting) > _MOST_TERMS:
                return Counter()
            terms[token, there] += sign * own
    return terms
