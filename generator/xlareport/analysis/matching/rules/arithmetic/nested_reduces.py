"""A rule for a reduce of a reduce that became one reduce over the dimensions of both."""

from collections.abc import Hashable, Iterator, Sequence

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.reasons import REDUCED_NOTHING
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.leftovers import is_dead
from xlareport.analysis.matching.sides.passed import reduces_nothing
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import SAME_ORDER
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_REDUCE = "reduce"


def merged_reduces(search: Search) -> None:
    """Combine a reduce and the reduce that it reads into one over the same value.

    An outer one that only drops dimensions of one element is no part of the new reduce.
    """
    wholes = [node for node in search.after.open() if _is_reduce(node)]
    nested = list(_nested(search.before)) if wholes else []
    if not nested:
        return
    search.evaluate()
    pairs = group_by_key((_reduce_key(search.before, *pair), pair) for pair in nested)
    for whole in wholes:
        equal = pairs.get(_reduce_key(search.after, whole, whole), ())
        members = next((pair for pair in equal if all(map(is_free, pair))), None)
        if members is None or not is_free(whole):
            continue
        outer, inner = members
        if reduces_nothing(search.before, outer):
            search.link(inner, whole, Grade.MATCHED, "it reduces the same value to one element")
            continue
        reason = f"%{whole.instruction.name} reduces the dimensions of both"
        search.combine(members, whole, Grade.MATCHED, reason)
        outer.token = whole.token


def reshaped(search: Search) -> None:
    """Pair a reduce that only drops dimensions of one element with a reshape of its operand.

    Either way: `tpu-copy-normalizer` makes such reduces of reshapes.
    """
    sides = search.before, search.after
    for gone, there in (sides, sides[::-1]):
        reduces = [node for node in gone.open() if reduces_nothing(gone, node)]
        for node, move in _same_moves(search, gone, reduces, there) if reduces else ():
            if gone is search.before:
                search.link(node, move, Grade.MATCHED, REDUCED_NOTHING)
            else:
                search.link(move, node, Grade.MATCHED, "it reduces only dimensions of one element")


def _same_moves(
    search: Search, here: Side, reduces: Sequence[Node], there: Side
) -> Iterator[tuple[Node, Node]]:
    """Yield reduces with a free reshape, on the other side, of their operand to their shape."""
    search.evaluate()
    moves = group_by_key(
        (_key_of_move(there, node), node)
        for node in there.open()
        if node.instruction.opcode in _RESHAPES
    )
    for node in reduces:
        equal = moves.get(_key_of_move(here, node), ())
        move = next(filter(is_free, equal), None)
        if move is not None and is_free(node):
            yield node, move


def _key_of_move(side: Side, node: Node) -> Hashable:
    """Return the place, the dimensions and the value that is given them."""
    operands = side.graph.operands(node)
    value = side.value_of(operands[0]) if operands else node
    return node.frame.number, node.instruction.shape.dimensions, value


def _nested(side: Side) -> Iterator[tuple[Node, Node]]:
    """Yield each open reduce that reads another one, which has no other live users, and that."""
    for outer in side.open():
        inner = _value_reduced(side, outer)[0] if _is_reduce(outer) else outer
        nested = inner is not outer and _is_reduce(inner) and is_free(inner)
        if nested and _has_one_live_user(side, inner):
            yield outer, inner


def _has_one_live_user(side: Side, node: Node) -> bool:
    """Return whether one operand is a node, apart from those of dead code."""
    return sum(not is_dead(user) for user, _ in side.users.get(node, ())) == 1


def _is_reduce(node: Node) -> bool:
    line = node.instruction
    return line.opcode == _REDUCE and not line.shape.elements


def _value_reduced(side: Side, node: Node) -> NodeElement:
    """Return what a reduce reads, behind reshapes."""
    value: NodeElement = node, ()
    for _ in range(_MOST_RESHAPES):
        operands = side.graph.operands(value[0])
        value = operands[0] if operands else value
        read, path = value
        if path or read.instruction.opcode not in _RESHAPES:
            break
    return value


_RESHAPES = SAME_ORDER
_MOST_RESHAPES = 8


def _sizes_reduced(side: Side, node: Node) -> list[int]:
    """Return the sizes of the dimensions that a reduce sums up, but those of one element."""
    operands = side.graph.operands(node)
    read = operands[0][0].instruction.shape.dimensions if operands else ()
    sizes = (read[number] for number in dimension_numbers(node.instruction) if number < len(read))
    return [size or 0 for size in sizes if size != 1]


def _reduce_key(side: Side, outer: Node, inner: Node) -> Hashable:
    """Return the place, the result's shape, the sizes that both reduce and the value reduced."""
    shape = outer.instruction.shape
    reduces = dict.fromkeys((outer, inner))
    sizes = sorted(size for node in reduces for size in _sizes_reduced(side, node))
    value = side.value_of(_value_reduced(side, inner))
    return outer.frame.number, shape.element_type, shape.dimensions, tuple(sizes), value
