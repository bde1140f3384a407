"""Rules that pair equal values in the order in which they are listed."""

from collections.abc import Callable, Iterator, Sequence

from xlareport.analysis.matching.rules.frames import elements_read_now
from xlareport.analysis.matching.rules.identity import grouped, is_leaf, is_other_move, value_of
from xlareport.analysis.matching.search.nodes import (
    are_other_fills,
    is_free,
    origin,
    read_at,
    same_shape,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade


def same_value_in_order(search: Search) -> None:
    """Pair nodes that have equal values in order, fills only if no framework ops contradict."""
    _pair_in_order(search, are_other_fills)


def same_fill_in_order(search: Search) -> None:
    """Pair fills that have equal values in order, where nothing closer was found."""
    _pair_in_order(search, lambda _node, _other: False)


def _pair_in_order(search: Search, parted: Callable[[Node, Node], bool]) -> None:
    search.evaluate()
    new = grouped(search.after, value_of)
    for value, ours in grouped(search.before, value_of).items():
        for node, other in _in_order(ours, new.get(value, ())):
            if search.divided and node.constant and not is_leaf(node):
                continue
            if is_other_move(node, other) or parted(node, other):
                continue
            if node.instruction.opcode == "parameter" and not same_shape(search, node, other):
                continue  # elements of what is paired, which have one value on each side
            if node.instruction.opcode == "parameter" and _are_given_others(search, node, other):
                continue
            if is_leaf(node) and _is_folded(search, node, other):
                continue
            reason = "one of several that compute the same, in order"
            search.link(node, other, Grade.MATCHED, reason)


def _are_given_others(search: Search, node: Node, other: Node) -> bool:
    """Return whether the only fusions that call two parameters' computations give other values."""
    given = _given(search.before, node), _given(search.after, other)
    if given[0] is None or given[1] is None or given[0].partner is None:
        return False
    return given[0].partner is not given[1] and given[0].token != given[1].token


def _given(side: Side, parameter: Node) -> Node | None:
    """Return the operand of a fusion for a parameter; None if several fusions call it."""
    frame = parameter.frame
    if frame.caller is None or frame.caller.instruction.opcode != "fusion":
        return None
    given = side.graph.resolve(frame, parameter.instruction.name)
    return None if given is None else given[0]


def _is_folded(search: Search, node: Node, other: Node) -> bool:
    """Return whether a constant after is what a user read that was computed from constants.

    It has the framework op of what was folded, or none.
    """
    if origin(other) and origin(other) != origin(node):
        return True
    for user, position in search.after.users.get(other, ()):
        read = None if user.partner is None else read_at(search.before, user.partner, position)
        if read is not None and is_free(read) and read.constant and not is_leaf(read):
            return True
    return False


def _in_order(ours: Sequence[Node], theirs: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield equal values in order; elements of a tuple first with what their users read now."""
    left, rest = [*theirs], []
    for node in ours:
        other = _read_instead(node, left) if len(theirs) > 1 else None
        if other is None:
            rest.append(node)
        else:
            left.remove(other)
            yield node, other
    yield from zip(rest, left, strict=False)


def _read_instead(node: Node, others: Sequence[Node]) -> Node | None:
    """Return the element of a tuple that a user of an element, paired already, reads now."""
    return next((other for other in elements_read_now(node) if other in others), None)
