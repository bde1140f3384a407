"""Rules for what a pass moved past several instructions in a row: reshapes, and converts."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import (
    is_free,
    node_after,
    paired_users,
    read_at,
    same_count,
    same_type,
)
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.inputs import behind
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES, REARRANGEMENTS, SAME_ORDER
from xlareport.knowledge.grades import Grade

_LONGEST = 32
"""Instructions that a reshape or convert is followed over."""
_OF_MOVES = ("dimensions", "padding", "slice")
"""Attributes that say how elements move."""
_LATER = "is behind it now, and was before it"
_PASSED = MOVES | {"pad"}
"""Opcodes that a convert changes places with; the value of a pad is converted too."""


def passed_runs(search: Search) -> None:
    """Pair reshapes whose operand is read now with those that give its shape further on."""
    for move in search.before.open():
        if move.instruction.opcode not in SAME_ORDER:
            continue
        for user, first in _readers_of_operand(search, move):
            moved = next(_given_behind(search, first, move), None)
            if moved is not None:
                reason = Past(user.instruction.name)
                search.link(move, moved, Grade.MATCHED, reason, Relation.SWAPPED)
                break


def _readers_of_operand(search: Search, move: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the users of a reshape whose counterparts read its operand in its place."""
    source = read_at(search.before, move, 0)
    now = None if source is None else node_after(search, source)
    for user, position in search.before.users.get(move, ()):
        other = user.partner
        if other is None or now is None or not _keeps_shape(user, move):
            continue
        if read_at(search.after, other, position) is now and _keeps_shape(other, now):
            yield user, other


def _keeps_shape(node: Node, operand: Node) -> bool:
    """Return whether a result has the dimensions of an operand."""
    return node.instruction.shape.dimensions == operand.instruction.shape.dimensions


def _given_behind(search: Search, first: Node, move: Node) -> Iterator[Node]:
    """Yield the free reshapes to the dimensions of a former one, behind what passes on its data."""
    waiting, seen = [first], {first}
    for node in waiting:
        for user, _ in search.after.users.get(node, ()):
            if user in seen or len(seen) > _LONGEST:
                continue
            seen.add(user)
            is_move = user.instruction.opcode in SAME_ORDER
            if is_move and is_free(user) and _keeps_shape(user, move) and same_count(user, first):
                yield user
            elif user.partner is not None and not is_move and _keeps_shape(user, first):
                waiting.append(user)


def converts_past_moves(search: Search) -> None:
    """Pair a convert of a value with that on the other side of the moves beside it."""
    for node in search.before.open():
        if _is_convert(node) and is_free(node):
            moved = _behind_moves(search, node) or _before_moves(search, node)
            if moved is not None:
                passed, other = moved
                reason = Past(passed.instruction.name)
                search.link(node, other, Grade.MATCHED, reason, Relation.SWAPPED)


def _behind_moves(search: Search, node: Node) -> tuple[Node, Node] | None:
    """Return the first move a convert passed and the convert behind all now; pair these moves."""
    passed, convert = _passed_run(search, node)
    for move, other in passed if convert is not None else ():
        if convert is not None and is_free(move) and is_free(other):
            search.link(move, other, Grade.MATCHED, f"%{convert.instruction.name} {_LATER}")
    return None if convert is None else (passed[0][0], convert)


def _passed_run(search: Search, node: Node) -> tuple[list[tuple[Node, Node]], Node | None]:
    """Return the moves that a convert passed, with their counterparts, and the convert behind them.

    It has the shape of the last move that it passed; the first of these reads the source now.
    """
    source = read_at(search.before, node, 0)
    now = None if source is None else node_after(search, source)
    passed: list[tuple[Node, Node]] = []
    while now is not None and len(passed) < _LONGEST:
        users = search.before.users.get(node, ())
        move = users[0][0] if len(users) == 1 and _moves_operand(*users[0]) else None
        now = None if move is None else _moved_alike(search, move, now)
        if move is None or now is None:
            break
        passed.append((move, now))
        readers = (user for user, _ in search.after.users.get(now, ()))
        converts = [reader for reader in readers if _is_convert(reader) and is_free(reader)]
        if len(converts) == 1 and _are_alike(move, converts[0]):
            return passed, converts[0]
        node = move
    return passed, None


def _moved_alike(search: Search, move: Node, source: Node) -> Node | None:
    """Return the counterpart of a move, or the only like it, that reads a new source."""
    if move.partner is not None:
        return move.partner if read_at(search.after, move.partner, 0) is source else None
    users = search.after.users.get(source, ())
    alike = [
        user for user, place in users if not place and is_free(user) and _move_alike(move, user)
    ]
    return alike[0] if is_free(move) and len(alike) == 1 else None


def _move_alike(node: Node, other: Node) -> bool:
    """Return whether two nodes move their first operands alike."""
    attributes, others = node.instruction.attributes, other.instruction.attributes
    same = all(attributes.get(name) == others.get(name) for name in _OF_MOVES)
    return (
        same and node.instruction.opcode == other.instruction.opcode and _keeps_shape(node, other)
    )


def _before_moves(search: Search, node: Node) -> tuple[Node, Node] | None:
    """Return the first move a convert passed, and the free convert before all of these now.

    It has the element type of the convert and reads what the last of these read before.
    """
    first = move = read_at(search.before, node, 0)
    for _ in range(_LONGEST):
        if first is None or move is None or move.partner is None or not _moves_operand(move, 0):
            return None
        source, read = (
            read_at(side, reader, 0)
            for side, reader in ((search.before, move), (search.after, move.partner))
        )
        if source is None or read is None:
            return None
        if _is_convert(read) and is_free(read):
            known = read_at(search.after, read, 0) is node_after(search, source)
            return (first, read) if known and same_type(node, read) else None
        if source.partner is not read:
            return None
        move = source
    return None


def _moves_operand(reader: Node, place: int) -> bool:
    """Return whether the elements of an operand become elements of what reads it."""
    return place == 0 and reader.instruction.opcode in _PASSED


def converts_between_moves(search: Search) -> None:
    """Pair a convert with that of the same value which a paired user reads behind new moves."""
    for node in search.before.open():
        if not (_is_convert(node) and is_free(node)):
            continue
        for _, reader, place in paired_users(node):
            operands = search.after.graph.operands(reader)
            if place >= len(operands):
                continue
            other = _behind_rearrangements(search.after, operands[place])
            converts = _is_convert(other) and is_free(other) and same_type(node, other)
            if converts and same_count(node, other) and _read_one_value(search, node, other):
                reason = f"the convert whose result %{reader.instruction.name} reads"
                search.link(node, other, Grade.MATCHED, reason)
                break


def _read_one_value(search: Search, node: Node, other: Node) -> bool:
    """Return whether the operands of two nodes are, behind moves, counterparts."""
    read, now = search.before.graph.operands(node), search.after.graph.operands(other)
    if not read or not now:
        return False
    source = _behind_rearrangements(search.before, read[0])
    return node_after(search, source) is _behind_rearrangements(search.after, now[0])


def _behind_rearrangements(side: Side, value: NodeElement) -> Node:
    """Return the node that a value is of, behind the moves that keep all its elements."""
    return behind(side.graph, value, REARRANGEMENTS)[0]


def _is_convert(node: Node) -> bool:
    return node.instruction.opcode == "convert"


def _are_alike(node: Node, other: Node) -> bool:
    """Return whether two results have the same element type and dimensions."""
    return same_type(node, other) and _keeps_shape(node, other)
