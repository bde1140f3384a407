"""Rules that pair equal values in the order in which they are listed."""

from collections.abc import Callable, Hashable, Iterator, Sequence

from xlareport.analysis.matching.rules.frames import elements_read_now
from xlareport.analysis.matching.rules.identity import grouped, is_leaf, is_other_move, value_of
from xlareport.analysis.matching.rules.loops.hoisting import name_after
from xlareport.analysis.matching.rules.replaced_constants import (
    left_loop,
    literals_in_loops,
    replaces_another,
)
from xlareport.analysis.matching.search.alike import pairs_in_order
from xlareport.analysis.matching.search.nodes import (
    are_other_fills,
    is_free,
    is_root,
    operand_pairs,
    origin,
    paired_users,
    read_at,
    same_shape,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Frame, Node
from xlareport.analysis.matching.sides.leftovers import is_idle
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key


def same_value_in_order(search: Search) -> None:
    """Pair nodes that have equal values in order, fills only if no framework ops contradict."""
    _pair_in_order(search, are_other_fills)


def same_fill_in_order(search: Search) -> None:
    """Pair fills that have equal values in order, where nothing closer was found."""
    _pair_in_order(search, lambda _node, _other: False)


def _pair_in_order(search: Search, parted: Callable[[Node, Node], bool]) -> None:
    search.evaluate()
    new = grouped(search.after, value_of)
    in_loops = literals_in_loops(search.before)
    for value, ours in grouped(search.before, value_of).items():
        for node, other in _in_order(search, ours, new.get(value, ())):
            if search.divided and node.constant and not is_leaf(node):
                continue
            if is_other_move(node, other) or parted(node, other):
                continue
            if node.instruction.opcode == "parameter" and not same_shape(search, node, other):
                continue  # elements of what is paired, which have one value on each side
            if node.instruction.opcode == "parameter" and _are_given_others(search, node, other):
                continue
            if is_leaf(node) and (_is_folded(search, node, other) or _is_read_anew(search, other)):
                continue
            if node.constant and replaces_another(search, node, other):
                continue
            if left_loop(node, other, in_loops):
                continue
            reason = "one of several that compute the same, in order"
            search.link(node, other, Grade.MATCHED, reason)


def same_constant_work(search: Search) -> None:
    """Pair equal operations on constants alone, of one framework op and computation, in order.

    Results first, so that those of a chain that was cloned are not paired with parts of another.
    """
    ours, theirs = (
        [node for node in side.open() if _is_constant_work(node)]
        for side in (search.before, search.after)
    )
    if not (ours and theirs):
        return
    search.evaluate()
    old = group_by_key(
        ((name_after(search, node), node.token, origin(node)), node) for node in ours
    )
    new = group_by_key(
        ((node.frame.computation.name, node.token, origin(node)), node) for node in theirs
    )
    for key in reversed(old):
        for node, other in pairs_in_order(search, old[key], new.get(key, ())):
            reason = "the same operation on constants, of the same framework op"
            if is_free(node) and is_free(other) and search.link(node, other, Grade.MATCHED, reason):
                _pair_operands(search, node, other, reason)


def idle_constants(search: Search) -> None:
    """Pair constant values without users with those that new fusions without users give."""
    search.evaluate()
    ours = group_by_key(
        ((name_after(search, node), node.token, origin(node)), node)
        for node in search.before.open()
        if node.constant and is_idle(node.instruction, node.frame.computation)
    )
    if not ours:
        return
    theirs = group_by_key(
        ((holder.frame.computation.name, node.token, origin(node)), node)
        for node in search.after.open()
        if node.constant and (holder := _idle_holder(node)) is not None
    )
    for key, nodes in ours.items():
        for node, other in pairs_in_order(search, nodes, theirs.get(key, ())):
            reason = "the same operation on constants, in a fusion without users"
            if search.link(node, other, Grade.MATCHED, reason):
                _pair_operands(search, node, other, reason)


def _idle_holder(node: Node) -> Node | None:
    """Return the fusion without users of which a node is the result."""
    holder = node.frame.caller
    if holder is None or holder.instruction.opcode != "fusion" or not is_root(node):
        return None
    return holder if is_idle(holder.instruction, holder.frame.computation) else None


def _is_constant_work(node: Node) -> bool:
    return node.constant and bool(origin(node)) and not is_leaf(node)


def _pair_operands(search: Search, node: Node, other: Node, reason: str) -> None:
    """Pair the free operands of two equal operations on constants, and theirs."""
    waiting = [(node, other)]
    for pair in waiting:
        for ours, theirs in operand_pairs(search, *pair):
            free = ours.token == theirs.token and is_free(ours) and is_free(theirs)
            if free and search.link(ours, theirs, Grade.MATCHED, reason):
                waiting.append((ours, theirs))


def unread_moves(search: Search) -> None:
    """Pair what moves one value to the same dimensions and has no users: passes rewrite it too."""
    old, new = (
        group_by_key((_move_key(side, node), node) for node in side.open() if _is_unread_move(node))
        for side in (search.before, search.after)
    )
    for key in old:
        for node, other in pairs_in_order(search, old[key], new.get(key, [])):
            search.link(node, other, Grade.MATCHED, "it moves the same value, and has no users")


def _is_unread_move(node: Node) -> bool:
    line = node.instruction
    return line.opcode in MOVES and is_idle(line, node.frame.computation)


def _move_key(side: Side, node: Node) -> Hashable:
    """Return the place, the dimensions and the value of a move."""
    shape, read = node.instruction.shape, side.graph.operands(node)
    values = tuple(map(side.value_of, read))
    return node.frame.number, shape.element_type, shape.dimensions, values


def same_constants_called(search: Search) -> None:
    """Pair equal constant values in opened computations that paired instructions call.

    Those whose users are paired go first: an equal value is not always read by the same loop.
    """
    search.evaluate()
    for link in list(search.links):
        frame = link.before.frame.callees.get(link.before.instruction.name)
        other = link.after.frame.callees.get(link.after.instruction.name)
        if frame is None or other is None or frame.number == other.number:
            continue
        new = group_by_key((node.token, node) for node in _open_constants(other))
        for read_alike in (True, False):
            for node in _open_constants(frame):
                equal = [now for now in new.get(node.token, ()) if is_free(now)]
                if read_alike:
                    equal = [now for now in equal if _are_read_alike(search, node, now)]
                if equal:
                    reason = "the same constant value, in what is called alike"
                    search.link(node, equal[0], Grade.MATCHED, reason)


def _open_constants(frame: Frame) -> list[Node]:
    """Return the unpaired nodes of a frame that are made of constants alone, users first."""
    nodes = (frame.nodes.get(line.name) for line in reversed(frame.computation.instructions))
    return [node for node in nodes if node is not None and node.constant and is_free(node)]


def _are_read_alike(search: Search, node: Node, other: Node) -> bool:
    """Return whether a user of a new node continues a user of an old one."""
    readers = {user.partner for user, _ in search.before.users.get(node, ())}
    return any(user in readers for user, _ in search.after.users.get(other, ()))


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


def _is_read_anew(search: Search, other: Node) -> bool:
    """Return whether all users of a new constant that are known read other values before."""
    if other.instruction.opcode != "constant":
        return False
    former = [read_at(search.before, user, place) for _, user, place in paired_users(other)]
    known = [read for read in former if read is not None]
    return bool(known) and all(read.token != other.token for read in known)


def _in_order(
    search: Search, ours: Sequence[Node], theirs: Sequence[Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield equal values in order; elements of a tuple first with what their users read now."""
    left, rest = [*theirs], []
    for node in ours:
        other = _read_instead(node, left) if len(theirs) > 1 else None
        if other is None:
            rest.append(node)
        else:
            left.remove(other)
            yield node, other
    yield from pairs_in_order(search, rest, left)


def _read_instead(node: Node, others: Sequence[Node]) -> Node | None:
    """Return the element of a tuple that a user of an element, paired already, reads now."""
    return next((other for other in elements_read_now(node) if other in others), None)
