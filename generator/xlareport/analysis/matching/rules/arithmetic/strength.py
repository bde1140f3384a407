"""A rule for dots that became elementwise products of their broadcast operands, and their sum."""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free, origin, same_type, sole_user
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.leftovers import is_idle
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key, sole_pairs

_MOVES = REARRANGEMENTS | {"broadcast", "convert"}
_MOST_MOVES = 8
"""Moves in a row that are looked behind."""
_OPERANDS = 2
_MOST_ROUNDS = 8
"""Limit on chains of such dots, each of which reads the result of the previous one."""


def reduced(search: Search) -> None:
    """Pair dots with multiplications of the same two values, if each is the only one."""
    for _ in range(_MOST_ROUNDS):
        count = len(search.links)
        _reduce_known(search)
        if len(search.links) == count:
            return


def _reduce_known(search: Search) -> None:
    dots = [node for node in search.before.open() if node.instruction.opcode == "dot"]
    products = [node for node in search.after.open() if _is_product(node)]
    if not (dots and products):
        return
    search.evaluate()
    for dot, product in sole_pairs(_keyed(search.before, dots), _keyed(search.after, products)):
        reason = f"%{product.instruction.name} multiplies the same values"
        _pair(search, dot, product, reason)
    _pair_by_op(search, [*filter(is_free, dots)], [*filter(is_free, products)])


def _pair_by_op(search: Search, dots: list[Node], products: list[Node]) -> None:
    """Pair dots with the product of one same value whose sum alone has their framework op.

    What is added to the other value may have changed places with it.
    """
    named = [(origin(dot), dot) for dot in dots if origin(dot)]
    for dot in (alike[0] for alike in group_by_key(named).values() if len(alike) == 1):
        size = dot.instruction.shape.element_count
        sums = [(_sums_to(search.after, product, size), product) for product in products]
        summed = [
            product for stages, product in sums if stages and origin(stages[-1]) == origin(dot)
        ]
        if len(summed) == 1 and _values(search.before, dot) & _values(search.after, summed[0]):
            reason = f"%{summed[0].instruction.name} multiplies one of the same values"
            _pair(search, dot, summed[0], f"{reason}, for the same framework op")


def _values(side: Side, node: Node) -> set[int]:
    """Return the values of the operands of a node, behind moves."""
    return {_value_behind_moves(side, operand) for operand in side.graph.operands(node)}


def _is_product(node: Node) -> bool:
    """Return whether a node multiplies for a reader: passes leave products that they gave up."""
    line = node.instruction
    return line.opcode == "multiply" and not is_idle(line, node.frame.computation)


def _keyed(side: Side, nodes: list[Node]) -> Iterator[tuple[Hashable, Node]]:
    """Yield nodes with two operands, with the sorted values of these as key."""
    for node in nodes:
        operands = side.graph.operands(node)
        if len(operands) == _OPERANDS:
            yield tuple(sorted(_value_behind_moves(side, operand) for operand in operands)), node


def _value_behind_moves(side: Side, operand: NodeElement) -> int:
    """Return the value that moves of data hand to an operand."""
    node, path = operand
    for _ in range(_MOST_MOVES):
        operands = side.graph.operands(node)
        if path or not operands or not _hands_on(node, operands[0]):
            break
        node, path = operands[0]
    return side.value_of((node, path))


def _hands_on(node: Node, operand: NodeElement) -> bool:
    """Return whether a node only moves its operand, also by a sum over one element."""
    line, (source, path) = node.instruction, operand
    if line.opcode != "reduce":
        return line.opcode in _MOVES
    count = line.shape.element_count
    return not (path or line.shape.elements) and source.instruction.shape.element_count == count


def _pair(search: Search, dot: Node, product: Node, reason: str) -> None:
    """Pair a dot with the sum of a product, if that has its size, else with the product."""
    size = dot.instruction.shape.element_count
    sums = _sums_to(search.after, product, size)
    if sums:
        *stages, total = sums
        if search.link(dot, total, Grade.MATCHED, reason):
            for part in (product, *stages, *_converts(search.after, dot, product, total)):
                search.extend(dot, part)
    elif product.instruction.shape.element_count == size or _is_repeated(search, product, size):
        search.link(dot, product, Grade.MATCHED, reason)


def _converts(side: Side, dot: Node, product: Node, total: Node) -> Iterator[Node]:
    """Yield the converts of a product before its sum, then that of the sum to the type of a dot."""
    node: Node | None = product
    while node is not None and node is not total:
        node = sole_user(side, node)
        if node is not None and node.instruction.opcode == "convert":
            yield node
    back = None if same_type(dot, total) else sole_user(side, total)
    is_convert = back is not None and back.instruction.opcode == "convert" and is_free(back)
    if back is not None and is_convert and same_type(dot, back):
        yield back


def _sole_reader(side: Side, node: Node) -> Node | None:
    """Return the instruction that alone reads a node, also within a fusion that is given it."""
    users = {user for user, _ in side.users.get(node, ())}
    readers = [user for user in users if user.instruction.name not in user.frame.callees]
    return readers[0] if len(readers) == 1 else None


def _is_repeated(search: Search, product: Node, size: int | None) -> bool:
    """Return whether only broadcasts of a size read a product: one factor is a repeated value."""
    users = [user.instruction for user, _ in search.after.users.get(product, ())]
    return bool(users) and all(
        user.opcode == "broadcast" and user.shape.element_count == size for user in users
    )


_STAGES = frozenset({"reduce", "reduce-window"})
"""Opcodes of a sum, which passes do in stages where it is long."""


def _sums_to(side: Side, product: Node, size: int | None) -> list[Node]:
    """Return the free sums, one of the other, that make a size of a product, behind free moves.

    Each alone reads what is before it; empty where they do not lead to that size.
    """
    node, sums = product, list[Node]()
    for _ in range(_MOST_MOVES):
        user = _sole_reader(side, node)
        if user is None or not is_free(user):
            break
        node = user
        opcode = node.instruction.opcode
        if opcode in _STAGES:
            sums.append(node)
            if opcode == "reduce" and node.instruction.shape.element_count == size:
                return sums
        elif opcode not in _MOVES:
            break
    return []
