"""Rules for what became a clamp: a minimum and a maximum, and a look-up in a table."""

from collections.abc import Hashable, Iterator

from xlareport.analysis.matching.search.nodes import is_free, node_before, read_at, same_form
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade, weakest

_OTHER = {"maximum": "minimum", "minimum": "maximum"}
_BOUNDS_AND_VALUE = 3
_TABLE_AND_INDEX = 2


def clamped(search: Search) -> None:
    """Pair a minimum of a maximum, or the reverse, with the clamp of the same value and bounds."""
    wholes = [node for node in search.after.open() if node.instruction.opcode == "clamp"]
    if not wholes:
        return
    search.evaluate()
    pairs = {key: pair for node in search.before.open() for key, pair in _pairs(search, node)}
    for whole in wholes:
        values = frozenset(_values(search.after, search.after.graph.operands(whole)))
        members = pairs.get((whole.frame.number, values), ())
        if members and all(map(is_free, members)):
            reason = f"%{whole.instruction.name} clamps to both bounds"
            search.combine(members, whole, Grade.MATCHED, reason)
            members[0].token = whole.token


def looked_up(search: Search) -> None:
    """Pair a look-up of one element in a constant with the clamp of its index that is read now.

    A table that holds its own indices gives the index, within the bounds of the table.
    """
    for whole in search.after.open():
        if whole.instruction.opcode != "clamp":
            continue
        index = read_at(search.after, whole, 1)
        for user, position in search.after.users.get(whole, ()):
            reader = node_before(search, user)
            former = None if reader is None else read_at(search.before, reader, position)
            if former is None or index is None or _index(search.before, former) is None:
                continue
            known = node_before(search, index) is _index(search.before, former)
            if known and is_free(former) and is_free(whole):
                reason = f"%{user.instruction.name} reads it instead: the table held its indices"
                search.link(former, whole, Grade.MATCHED, reason)


def _index(side: Side, node: Node) -> Node | None:
    """Return the index of a look-up of one element in a constant; None of anything else."""
    line = node.instruction
    operands = side.graph.operands(node) if line.opcode == "dynamic-slice" else ()
    if line.shape.element_count != 1 or len(operands) != _TABLE_AND_INDEX:
        return None
    return operands[1][0] if _holds_indices(operands[0][0]) else None


def _holds_indices(table: Node) -> bool:
    """Return whether a node is a constant `{0, 1, 2}` of its own indices."""
    line = table.instruction
    numbers = line.argument.strip("{} ").replace(" ", "").split(",")
    return line.opcode == "constant" and numbers == [str(at) for at in range(len(numbers))]


def bounds(search: Search) -> None:
    """Pair the bounds of a minimum and a maximum with those of the clamp that they became.

    What bounds them may be parameters of a function before, and constants where it was inlined.
    """
    for link in list(search.links):
        former = bounds_of(search.before, link.before)
        if link.after.instruction.opcode != "clamp" or former is None:
            continue
        reason = f"a bound of %{link.after.instruction.name}"
        for bound, now in zip(former, _bounds_of_clamp(search.after, link.after), strict=True):
            if is_free(bound) and is_free(now) and same_form(search, bound, now):
                search.link(bound, now, weakest((link.grade, Grade.MATCHED)), reason)


def bounds_of(side: Side, node: Node) -> tuple[Node, Node] | None:
    """Return the lower and the upper bound of a minimum of a maximum, or the reverse.

    Bounds are broadcasts or constants, and the value is not; None of anything else.
    """
    other = _OTHER.get(node.instruction.opcode)
    operands = [operand for operand, _ in side.graph.operands(node)] if other else []
    for inner in operands:
        if inner.instruction.opcode != other:
            continue
        outer_bounds = [read for read in operands if _is_fill(read)]
        inner_bounds = [read for read, _ in side.graph.operands(inner) if _is_fill(read)]
        if len(outer_bounds) == len(inner_bounds) == 1:
            pair = inner_bounds[0], outer_bounds[0]
            return pair if other == "maximum" else pair[::-1]
    return None


def _is_fill(node: Node) -> bool:
    return node.instruction.opcode in ("broadcast", "constant")


def _bounds_of_clamp(side: Side, clamp: Node) -> tuple[Node, Node]:
    """Return the lower and the upper bound of a clamp."""
    operands = side.graph.operands(clamp)
    return operands[0][0], operands[-1][0]


def _pairs(search: Search, node: Node) -> Iterator[tuple[Hashable, tuple[Node, Node]]]:
    """Yield the bounds and the value of a node that reads its counterpart, and both."""
    side = search.before
    operands = side.graph.operands(node)
    for position, (inner, _) in enumerate(operands):
        if inner.instruction.opcode == _OTHER.get(node.instruction.opcode) and is_free(inner):
            others = operands[:position] + operands[position + 1 :]
            values = frozenset(_values(side, (*others, *side.graph.operands(inner))))
            if len(values) == _BOUNDS_AND_VALUE:
                yield (node.frame.number, values), (node, inner)


def _values(side: Side, operands: tuple[NodeElement, ...]) -> Iterator[int]:
    """Yield the value numbers of operands, before broadcasts: a clamp broadcasts scalars itself."""
    for operand, _ in operands:
        node = operand
        if node.instruction.opcode == "broadcast" and side.graph.operands(node):
            node = side.graph.operands(node)[0][0]
        yield side.values.value_of(node)
