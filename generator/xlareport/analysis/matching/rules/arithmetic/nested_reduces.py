"""A rule for a reduce of a reduce that became one reduce over the dimensions of both."""

from collections.abc import Hashable, Iterator, Sequence
from math import prod

from xlareport.analysis.matching.rules.heavy.products import reducer
from xlareport.analysis.matching.search.nodes import is_free, node_before, same_count
from xlareport.analysis.matching.search.reasons import REDUCED_NOTHING
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.inputs import behind
from xlareport.analysis.matching.sides.leftovers import is_dead
from xlareport.analysis.matching.sides.passed import reduces_nothing
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS, SAME_ORDER
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_REDUCE = "reduce"
_PASSED = REARRANGEMENTS | {"convert"}
"""Opcodes that are passed to find what a reduce reads."""


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


def completed_merges(search: Search) -> None:
    """Combine a reduce with the one that it reads, or that reads it, and that was paired already.

    The new reduce sums up the dimensions of both, and what it reads may have another value. If the
    outer one only dropped dimensions of one element, the new one continues the inner one.
    """
    wholes = {link.before: link.after for link in search.links if _may_be_merged(search, link)}
    for outer, inner in _nested_pairs(search.before) if wholes else ():
        paired = [node for node in (outer, inner) if node in wholes]
        free = [node for node in (outer, inner) if is_free(node)]
        if len(paired) != 1 or len(free) != 1:
            continue
        whole = wholes[paired[0]]
        if free == [inner] and reduces_nothing(search.before, outer):
            _unlink(search, whole)
            name = outer.instruction.name
            reason = f"%{name}, which read it, only reduced dimensions of one element"
            search.link(inner, whole, Grade.MATCHED, reason)
            outer.token = whole.token
        elif _reduces_both(search, outer, inner, whole) and not _reads_other(search, inner, whole):
            _unlink(search, whole)
            reason = f"%{whole.instruction.name} reduces the dimensions of both"
            search.combine((outer, inner), whole, Grade.MATCHED, reason)
            outer.token = whole.token


def _reads_other(search: Search, inner: Node, whole: Node) -> bool:
    """Return whether a new reduce reads what continues another value than the inner one's."""
    graph, read = search.before.graph, search.after.graph.operands(whole)
    known = node_before(search, read[0][0]) if read else None
    if known is None:
        return False
    values = (known, ()), *graph.operands(inner)[:1]
    return len({behind(graph, value, _PASSED)[0] for value in values}) > 1


def _unlink(search: Search, whole: Node) -> None:
    search.unlink([link for link in search.links if link.after is whole])


def _may_be_merged(search: Search, link: NodePair) -> bool:
    """Return whether a reduce became one that sums up other dimensions."""
    if not (_is_reduce(link.before) and _is_reduce(link.after)) or link.before.kept:
        return False
    counts = _summands(search.before, link.before), _summands(search.after, link.after)
    return counts[0] != counts[1]


def _summands(side: Side, node: Node) -> int:
    """Return how many elements a reduce sums up for each of its result."""
    return prod(_sizes_reduced(side, node))


def _reduces_both(search: Search, outer: Node, inner: Node, whole: Node) -> bool:
    """Return whether a new reduce gives what an outer one gave, of the dimensions of both."""
    reducers = {reducer(search.before, node) for node in (outer, inner)}
    count = _summands(search.before, outer) * _summands(search.before, inner)
    return (
        reducers == {reducer(search.after, whole)}
        and same_count(outer, whole)
        and count == _summands(search.after, whole)
    )


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
    """Yield each open reduce that reads an open one, which has no other live users, and that."""
    for outer, inner in _nested_pairs(side):
        if is_free(outer) and is_free(inner):
            yield outer, inner


def _nested_pairs(side: Side) -> Iterator[tuple[Node, Node]]:
    """Yield each reduce that reads another one, which nothing else live reads, and that."""
    for outer in side.nodes:
        chain = _chain_reduced(side, outer) if _is_reduce(outer) else []
        inner = chain[-1][0] if chain else outer
        nested = inner is not outer and _is_reduce(inner)
        if nested and all(_has_one_live_user(side, node) for node, _ in chain):
            yield outer, inner


def _has_one_live_user(side: Side, node: Node) -> bool:
    """Return whether one operand is a node, apart from those of dead code."""
    return sum(not is_dead(user) for user, _ in side.users.get(node, ())) == 1


def _is_reduce(node: Node) -> bool:
    line = node.instruction
    return line.opcode == _REDUCE and not line.shape.elements


def _value_reduced(side: Side, node: Node) -> NodeElement:
    """Return what a reduce reads, behind reshapes and converts to the type that it has."""
    chain = _chain_reduced(side, node)
    return chain[-1] if chain else (node, ())


def _chain_reduced(side: Side, node: Node) -> list[NodeElement]:
    """Return what a reduce reads, behind each reshape and convert to the type that it has."""
    chain: list[NodeElement] = []
    for _ in range(_MOST_RESHAPES):
        operands = side.graph.operands(node)
        if not operands:
            break
        chain.append(operands[0])
        node, path = operands[0]
        if path or not _is_idle(side, node):
            break
    return chain


def _is_idle(side: Side, node: Node) -> bool:
    """Return whether a node only reshapes, or converts to the type that its operand has."""
    line = node.instruction
    if line.opcode != "convert":
        return line.opcode in _RESHAPES
    operands = side.graph.operands(node)
    return bool(operands) and operands[0][0].instruction.shape.text == line.shape.text


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
