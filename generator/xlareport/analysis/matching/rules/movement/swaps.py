"""A rule for data movement that changes places with its users or its operands."""

from collections.abc import Hashable, Iterator, Mapping, Sequence

from xlareport.analysis.matching.rules.movement.crossed import crossed, equal_values, read_alone
from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.data_operands import is_data
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES, REARRANGEMENTS, SAME_ORDER
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key, sole_pairs

_MOVES = MOVES | {"convert", "negate"}
"""Opcodes that change places with others; negations and converts move past sums too."""


_SHAPED = frozenset({"bitcast", "reshape", "transpose"})
"""Opcodes that become one another once layouts are assigned."""


def reordered(search: Search) -> None:
    """Pair operations on the same value before and after a move, and the moves."""
    count = len(search.links)
    old, new = search.before.open(), search.after.open()
    if not any(map(_is_move, old)) or not any(map(_is_move, new)):
        return
    search.evaluate()
    pairs = list(_pair_users(search.before, old, search.after, new))
    pairs += [(node, other) for other, node in _pair_users(search.after, new, search.before, old)]
    pairs += _moved_on_both(search, old, new)
    pairs += crossed(search, old, new)
    for node, other in pairs:
        if is_free(node) and is_free(other):
            search.link(node, other, Grade.MATCHED, _REORDERED)
    if len(search.links) > count:
        swapped(search)


_REORDERED = "the same operation on the same value, on the other side of a move"


def _pair_users(
    here: Side, nodes: Sequence[Node], there: Side, others: Sequence[Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield users of a data movement op, paired with users of its operand in the other snapshot."""
    moving = group_by_key(
        (_operation_key(node, _read_behind_moves(here, node)), node) for node in nodes
    )
    moving.pop(None, None)
    opcodes = {alike[0].instruction.opcode for alike in moving.values()}
    same = (node for node in others if node.instruction.opcode in opcodes)
    plain = group_by_key((_operation_key(node, there.values.read(node)), node) for node in same)
    for key, alike in moving.items():
        known = plain.get(key, ())
        if len(alike) == len(known) == 1 and alike[0].token != known[0].token:
            yield alike[0], known[0]


def _moved_on_both(
    search: Search, old: Sequence[Node], new: Sequence[Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield pairs that alone read the same values on either side, looking through moves."""
    sides = ((search.before, old), (search.after, new))
    before, after = [
        [(_operation_key(node, _read_behind_moves(side, node)), node) for node in nodes]
        for side, nodes in sides
    ]
    yield from sole_pairs(before, after)


def _operation_key(node: Node, read: Sequence[int] | None) -> Hashable:
    """Return a node's operation without shapes, and its operands' values; None if irrelevant."""
    count = node.instruction.shape.element_count
    line = node.instruction
    if _is_move(node) or not read:
        return None
    return (line.opcode, line.attributes.get("direction"), count, *read)


def _read_behind_moves(side: Side, node: Node) -> list[int] | None:
    """Return the tokens that a node reads, behind a free move each; None where there is none."""
    operands = side.graph.operands(node)
    values = side.values
    moved = [
        values.read(operand)[:1] if not path and is_free(operand) and _is_move(operand) else []
        for operand, path in operands
    ]
    if not any(moved):
        return None
    read = values.read(node)
    return [behind[0] if behind else token for behind, token in zip(moved, read, strict=True)]


def _is_move(node: Node) -> bool:
    return node.instruction.opcode in _MOVES and bool(node.instruction.operands)


def swapped(search: Search) -> None:
    """Pair a move at a node with the same move on the other side of its partner.

    And then those that read what such a move made, or what it passed.
    """
    passed_chains(search)
    count = -1
    while count != len(search.links):
        count = len(search.links)
        search.evaluate()
        _swap(search, equal_values(search))


def _swap(search: Search, equal: Mapping[Node, Node]) -> None:
    behind = crossed(search, search.before.open(), search.after.open(), equal) if equal else ()
    for node, other in behind:
        if is_free(node) and is_free(other) and search.link(node, other, Grade.MATCHED, _REORDERED):
            pass_chains(search, node, other)
    beside = _beside_moves(search.before)
    for link in [link for link in search.links if link.before in beside]:
        node, other = link.before, link.after
        moves = *_lowered(search, node, other, equal), *_raised(search, node, other, equal)
        for move, moved in moves:
            alike = move.instruction.opcode == moved.instruction.opcode
            if is_free(move) and is_free(moved) and _can_pass(node, alike=alike):
                reason = Past(node.instruction.name)
                same = alike or _keep_order(move, moved)
                relation = Relation.SWAPPED if same else Relation.SAME
                search.link(move, moved, Grade.MATCHED, reason, relation)


def _keep_order(move: Node, moved: Node) -> bool:
    """Return whether both moves only give other dimensions: a reshape may become a bitcast."""
    return {move.instruction.opcode, moved.instruction.opcode} <= SAME_ORDER


def _can_pass(passed: Node, *, alike: bool) -> bool:
    """Return whether a move can change places with an instruction and keep its value.

    Moves of a matmul's result and of its operand are of different values, and of several moves in
    a row of other opcodes it is not known which is which.
    """
    opcode = passed.instruction.opcode
    return opcode not in _CONTRACTING and (alike or opcode not in REARRANGEMENTS)


_CONTRACTING = frozenset({"convolution", "dot"})


def _beside_moves(side: Side) -> set[Node]:
    """Return the users and operands of free moves."""
    moves = [node for node in side.open() if _is_move(node)]
    users = {user for move in moves for user, _ in side.users.get(move, ())}
    return users | {operand for move in moves for operand, _ in side.graph.operands(move)}


def _lowered(
    search: Search, node: Node, other: Node, equal: Mapping[Node, Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield a move whose result was read, and the move that reads the result now."""
    for position, move in _read_moves(search.before, search.after, node, other, equal):
        for moved in _reading_moves(search.after, other, position, move):
            yield move, moved


def _raised(
    search: Search, node: Node, other: Node, equal: Mapping[Node, Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield a move that read the result, and the move whose result is read now."""
    for position, moved in _read_moves(search.after, search.before, other, node, equal):
        for move in _reading_moves(search.before, node, position, moved):
            if not _stays(search.after, other, move):
                yield move, moved


def _stays(side: Side, node: Node, move: Node) -> bool:
    """Return whether a move of a node's result is one now too, of whatever opcode."""
    return any(
        is_free(user) and _is_move(user) and user.instruction.shape == move.instruction.shape
        for user, _ in side.users.get(node, ())
    )


def _read_moves(
    here: Side, there: Side, node: Node, other: Node, equal: Mapping[Node, Node]
) -> Iterator[tuple[int, Node]]:
    """Yield the free moves of data that a node reads, where its partner reads their operands.

    Each with the place at which it is read.
    """
    read, operands = there.values.read(other), there.graph.operands(other)
    for position, (move, path) in enumerate(here.graph.operands(node)):
        if path or not is_free(move) or move.instruction.opcode not in _MOVES:
            continue
        moved = here.values.read(move)
        reads = moved and position < len(read) and moved[0] == read[position]
        behind = read_alone(here, move)
        reads = reads or (position < len(operands) and _is_equal(operands[position], behind, equal))
        if reads and is_data(node.instruction, position):
            yield position, move


def _is_equal(read: NodeElement, source: Node | None, equal: Mapping[Node, Node]) -> bool:
    """Return whether an operand, of a node on the other side, has the value of a move's."""
    operand, path = read
    return source is not None and not path and equal.get(source) is operand


def _reading_moves(side: Side, node: Node, position: int, like: Node) -> Iterator[Node]:
    """Yield the free users, with the opcode of a move, of the result for an operand of a node."""
    results = ((), (position,))
    for user, number in side.users.get(node, ()):
        codes = {user.instruction.opcode, like.instruction.opcode}
        shaped = len(codes) == 1 or ("bitcast" in codes and codes <= _SHAPED)
        if is_free(user) and shaped and side.graph.operands(user)[number][1] in results:
            yield user


def passed_chains(search: Search) -> None:
    """Pair the moves of chains with those on the other side of what passed all of them."""
    for link in list(search.links):
        pass_chains(search, link.before, link.after)


def pass_chains(search: Search, node: Node, other: Node) -> None:
    """Pair the moves that a linked convert or the like has passed, in their order."""
    if node.instruction.opcode == other.instruction.opcode and _passes(node):
        old, new = _chain_to(search.before, node), _chain_from(search.after, other)
        _pair_chains(search, old, new, node)
        old, new = _chain_from(search.before, node), _chain_to(search.after, other)
        _pair_chains(search, old, new, node)


_PASSING = frozenset({"convert", "copy", "negate"})
_LONGEST = 8


def _passes(node: Node) -> bool:
    return node.instruction.opcode in _PASSING


def _pair_chains(search: Search, old: list[Node], new: list[Node], passed: Node) -> None:
    """Pair the moves of two chains in order if all opcodes and dimensions are equal."""
    if len(old) != len(new) or not all(map(_moves_alike, old, new)):
        return
    for move, moved in zip(old, new, strict=True):
        reason = Past(passed.instruction.name)
        search.link(move, moved, Grade.MATCHED, reason, Relation.SWAPPED)


def _moves_alike(node: Node, other: Node) -> bool:
    ours, theirs = node.instruction, other.instruction
    return ours.opcode == theirs.opcode and ours.shape.dimensions == theirs.shape.dimensions


def _chain_to(side: Side, node: Node) -> list[Node]:
    """Return the free moves behind the operand of a node, the first one first."""
    chain: list[Node] = []
    for _ in range(_LONGEST):
        operands = side.graph.operands(node)
        if len(operands) != 1 or operands[0][1] or not _is_free_move(operands[0][0]):
            break
        node = operands[0][0]
        chain.append(node)
    return chain[::-1]


def _chain_from(side: Side, node: Node) -> list[Node]:
    """Return the free moves of the result of a node, each the only user of the one before."""
    chain: list[Node] = []
    for _ in range(_LONGEST):
        users = side.users.get(node, ())
        if len(users) != 1 or not _is_free_move(users[0][0]):
            break
        node = users[0][0]
        chain.append(node)
    return chain


def _is_free_move(node: Node) -> bool:
    return is_free(node) and node.instruction.opcode in MOVES and bool(node.instruction.operands)


def moved_past(search: Search) -> None:
    """Mark pairs of a move that other rules linked as swapped, if it passed an instruction.

    Not so where that is known to have passed the move.
    """
    moved = {link.before for link in search.links if link.relation is Relation.SWAPPED}
    for link in search.links:
        if link.relation in _UNTOLD and _is_same_move(link.before, link.after):
            passed = _passed(search, link.before, link.after) or _reshape_passed(search, link)
            if passed is not None and passed not in moved:
                link.relation = Relation.SWAPPED
                link.reason = Past(passed.instruction.name)


_UNTOLD = (Relation.SAME, Relation.REPLACED)


def _is_same_move(node: Node, other: Node) -> bool:
    opcode = node.instruction.opcode
    return opcode in MOVES and opcode == other.instruction.opcode and not node.constant


def _passed(search: Search, move: Node, moved: Node) -> Node | None:
    """Return the instruction that a move of its data passed; None if there is none."""
    read, reads = _sole_operand(search.before, move), _sole_operand(search.after, moved)
    if read is None or reads is None or read.partner is reads or read.token == reads.token:
        return None
    if _reads(search.before, reads.partner, move):
        return reads.partner
    return read if _reads(search.after, read.partner, moved) else None


def _reshape_passed(search: Search, link: NodePair) -> Node | None:
    """Return the reshape that read a copy or transpose and is read by it now, or the reverse."""
    if link.before.instruction.opcode not in _LAID_OUT:
        return None
    sides = (search.before, link.before), (search.after, link.after)
    for (here, move), (there, moved) in (sides, sides[::-1]):
        source, reshape = read_alone(here, move), read_alone(there, moved)
        former = None if reshape is None else reshape.partner
        if former is None or reshape is None or source is None:
            continue
        reshapes = {former.instruction.opcode, reshape.instruction.opcode} <= SAME_ORDER
        if reshapes and _reads(here, former, move) and _continues(there, reshape, source):
            return former if here is search.before else reshape
    return None


_LAID_OUT = REARRANGEMENTS - SAME_ORDER
"""Opcodes of moves that cost something, past those that may not."""


def _continues(side: Side, reader: Node, source: Node) -> bool:
    """Return whether a node reads the counterpart of a node on the other side, or its value."""
    read = read_alone(side, reader)
    return read is not None and (read.partner is source or read.token == source.token)


def _sole_operand(side: Side, node: Node) -> Node | None:
    """Return the only operand of a node, behind moves; None for tuple elements."""
    for _ in range(_LONGEST):
        operands = side.graph.operands(node)
        if len(operands) != 1 or operands[0][1]:
            break
        node = operands[0][0]
        if node.instruction.opcode not in MOVES:
            return node
    return None


def _reads(side: Side, reader: Node | None, move: Node) -> bool:
    """Return whether an instruction that a move can pass reads it as data, or moves of it."""
    if reader is None or not _can_pass(reader, alike=True):
        return False
    for _ in range(_LONGEST):
        users = side.users.get(move, ())
        if any(user is reader and is_data(user.instruction, place) for user, place in users):
            return True
        if len(users) != 1 or users[0][0].instruction.opcode not in MOVES:
            break
        move = users[0][0]
    return False
