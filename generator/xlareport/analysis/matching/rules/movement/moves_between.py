"""A rule for the moves between work and what it reads, where both have known counterparts.

It is for whole compilations, of which the work was paired with the moves seen through.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.search.nodes import is_free, origin
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.work_pairs import MOVES
from xlareport.analysis.matching.sides.graph import Node, NodeElement, opcode_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.knowledge.grades import Grade

_REASON = "the move of the same opcode between the same work and its operand"
_COPY = "a further copy, between copies of the same work and its operand"
_MOST = 16
"""Moves in a row."""


def moves_between(search: Search) -> None:
    """Pair the moves of one opcode that stand between paired work and a paired operand."""
    guessed = {link.after for link in search.links if link.grade is Grade.GUESSED}
    for node, now in [*_readers(search)]:
        grade = Grade.GUESSED if now in guessed else Grade.MATCHED
        operands = search.before.graph.operands(node), search.after.graph.operands(now)
        if len(operands[0]) == len(operands[1]):
            for read, reads in zip(*operands, strict=True):
                for old, new in _same_moves(search, read, reads):
                    _note(search, old, new, grade)


def _readers(search: Search) -> Iterator[tuple[Node, Node]]:
    """Yield the paired work, and the copies of work with their originals."""
    for link in search.links:
        if link.before.instruction.opcode == link.after.instruction.opcode:
            yield link.before, link.after
    for copy, (original, _) in search.copies.items():
        if opcode_of(copy) == opcode_of(original):
            yield original, copy


def _same_moves(
    search: Search, read: NodeElement, reads: NodeElement
) -> Iterator[tuple[Node, Node]]:
    """Yield the moves of one opcode, from the reader to the same value behind them."""
    old, source = _moves(search.before, read)
    new, now = _moves(search.after, reads)
    if not (old and new) or not _are_same(search, source, now):
        return
    for move in new:
        places = (number for number, node in enumerate(old) if _may_be_same(node, move))
        place = next(places, None)
        if place is not None:
            yield old[place], move
            old = old[place + 1 :]


def _may_be_same(move: Node, now: Node) -> bool:
    """Return whether a move may be another one: the compiler makes converts of its own."""
    alike = opcode_of(move) == opcode_of(now)
    return alike and (opcode_of(now) != "convert" or origin(move) == origin(now) != "")


def _moves(side: Side, read: NodeElement) -> tuple[list[Node], NodeElement]:
    """Return the moves behind an operand, and the value that they move."""
    moves: list[Node] = []
    while not read[1] and opcode_of(read[0]) in MOVES and len(moves) < _MOST:
        operands = side.graph.operands(read[0])
        if not operands:
            break
        moves.append(read[0])
        read = operands[0]
    return moves, read


def _are_same(search: Search, source: NodeElement, now: NodeElement) -> bool:
    """Return whether two values are of counterparts, of a copy and its original, or equal."""
    old, new = source[0], now[0]
    if source[1] or now[1]:
        return search.before.value_of(source) == search.after.value_of(now)
    original = search.copies.get(new, (None,))[0]
    return old in {new.partner, original} or search.before.value_of(
        source
    ) == search.after.value_of(now)


def _note(search: Search, old: Node, new: Node, grade: Grade) -> None:
    if not is_free(new) or new in search.copies:
        return
    if is_free(old):
        search.link(old, new, grade, _REASON)
    elif grade is not Grade.GUESSED:
        search.copies[new] = old, _COPY
