"""A rule for work that is done again on moved data: a transposed copy of a softmax, for a sort.

Before, a reader has a move of a result; after, it reads the same work done on moved operands.
"""

from collections.abc import Iterator

from xlareport.analysis.matching.rules.movement.swaps import pass_chains
from xlareport.analysis.matching.search.nodes import (
    is_free,
    node_after,
    operand_pairs,
    origin,
    read_at,
    same_count,
)
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.data_operands import is_data
from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.leftovers import is_dead
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS, REARRANGEMENTS, TUPLES
from xlareport.knowledge.grades import Grade

_LOWERED = REARRANGEMENTS | {"convert", "negate"}
"""Opcodes that are done to a result in the place of an operand."""
_SUMS = MATRIX_PRODUCTS | {"reduce", "reduce-window"}
"""Opcodes whose result has elements that are combined of several ones of an operand."""
_MOST_MOVES = 16
"""Moves in a row: a pass that lays out an index adds and takes away dimensions again and again."""
_MOST_PAIRS = 100
_AGAIN = "a further copy, on moved data"
_COPY = "a further copy"
_RESHAPED = "a further copy, in another shape"
_LAID_OUT = "a further copy, in another layout"
_SAME = "the same operation on the same value, on the other side of a move"


def moved(search: Search) -> None:
    """Pair work that is done on moved data now, and the moves; record work done twice as copies."""
    if not any(node.instruction.opcode in REARRANGEMENTS for node in search.before.open()):
        return
    search.evaluate()
    for link in list(search.links):
        for move, other in _exchanged(search, link.before, link.after):
            for source in _sources(search.before, move):
                if _does_the_same(source, other):
                    merged = _is_in_reader(link.before, move, link.after, other)
                    _follow(search, source, other, None if merged else move)
                    break


def lowered(search: Search) -> None:
    """Record moves of results as copies of a move of an operand that still exists."""
    if any(node.instruction.opcode in _LOWERED for node in search.after.open()):
        for link in search.links:
            _note_lowered(search, link.before, link.after)


def _note_lowered(search: Search, before: Node, after: Node) -> None:
    ours, theirs = search.before.graph.operands(before), search.after.graph.operands(after)
    for place, ((read, _), (now, _)) in enumerate(zip(ours, theirs, strict=False)):
        if read.instruction.opcode not in _LOWERED or is_free(read):
            continue
        if not _moves_from(search, read, now) or not is_data(after.instruction, place):
            continue
        if _gives_other_values(search, after, read):
            continue
        for user, _ in search.after.users.get(after, ()):
            alike = user.instruction.opcode == read.instruction.opcode
            if not alike or not _gives_result(user, before):
                continue  # it is of another value, such as the move of a further operand
            if is_free(user) and user not in search.copies:
                search.copies[user] = read, Past(after.instruction.name, of_copy=True)


def _gives_other_values(search: Search, passed: Node, move: Node) -> bool:
    """Return whether a move of a result is of new values, while the operand's is read as before.

    A sum of converted elements that is narrowed and converted is no further convert of these. The
    negative of a sum is the sum of the negatives.
    """
    itself = node_after(search, move)
    stays = itself is not None and not is_dead(itself)
    sums = passed.instruction.opcode in _SUMS and move.instruction.opcode != "negate"
    return stays and sums


def _gives_result(move: Node, before: Node) -> bool:
    """Return whether a move of a new result may give the old one: it has these dimensions."""
    shapes = move.instruction.shape, before.instruction.shape
    return any(shape.elements for shape in shapes) or shapes[0].dimensions == shapes[1].dimensions


def repeated(search: Search) -> None:
    """Record as copies the work that is repeated in another shape for one reader of a result."""
    if any(node.instruction.opcode in REARRANGEMENTS for node in search.after.open()):
        for link in search.links:
            for read, now in operand_pairs(search, link.before, link.after):
                _note_repeated(search, read, now)


def _note_repeated(search: Search, read: Node, now: Node) -> None:
    if is_free(read) or not is_free(now) or now in search.copies:
        return
    work = next((w for w in (now, *_sources(search.after, now)) if not _is_move(w)), now)
    if not is_free(work) or not _does_the_same(read, work):
        return
    for node, copy in _copied(search, read, work) or ():
        if is_free(copy) and not _is_move(copy) and copy not in search.copies:
            is_same = node.instruction.shape.text == copy.instruction.shape.text
            search.copies[copy] = node, _COPY if is_same else _RESHAPED


def equal_copies(search: Search) -> None:
    """Record as copies what repeats, in its computation, work that a rule found to be a copy."""
    values = search.after.own_values if search.copies else {}
    known = {
        (node.frame.number, values[node]): original
        for node, original in search.copies.items()
        if node in values and not _is_move(node)
    }
    for node in search.after.open() if known else ():
        original = known.get((node.frame.number, values.get(node)))
        if original is not None and not _is_move(node):
            search.copies.setdefault(node, original)


def _moves_from(search: Search, move: Node, now: Node) -> bool:
    """Return whether `now` is the operand of an old move, perhaps as one that undoes the move."""
    sources = search.before.graph.operands(move)
    itself = len(sources) == 1 and not sources[0][1] and _is_itself(search, sources[0][0], now)
    return itself or _undoes(search, move, now)


def _undoes(search: Search, move: Node, now: Node) -> bool:
    """Return whether a new transpose puts the dimensions of an old one back in their order.

    The reshape mover writes a pair of these around the work that it moves transposes past.
    """
    if not move.instruction.opcode == now.instruction.opcode == "transpose":
        return False
    read, itself = read_at(search.after, now, 0), node_after(search, move)
    order, back = dimension_numbers(move.instruction), dimension_numbers(now.instruction)
    inverse = [order.index(place) if place in order else -1 for place in range(len(order))]
    return is_free(now) and itself is not None and read is itself and back == inverse


def _exchanged(search: Search, before: Node, after: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the free moves that a node reads, with the new operand in the same position."""
    ours, theirs = search.before.graph.operands(before), search.after.graph.operands(after)
    if len(ours) != len(theirs):
        return
    for (node, path), (other, other_path) in zip(ours, theirs, strict=True):
        plain = not path and not other_path and is_free(node) and is_free(other)
        if plain and _is_move(node) and not _is_move(other):
            yield node, other


def is_done_again(before: Side, move: Node, other: Node) -> bool:
    """Return whether `other` does the work of the move's source, on moved data.

    What has the framework op of the move, but not that of its source, stands for the move; so does
    a broadcast without a framework op where the source is another broadcast, and still there.
    """
    if not _is_move(move) or _is_move(other):
        return False
    stands = bool(origin(move)) and origin(move) == origin(other)
    return any(
        _does_the_same(source, other)
        and not (stands and origin(source) != origin(other))
        and not (_is_fill(source) and not is_free(source) and not origin(other))
        for source in _sources(before, move)
    )


def _is_fill(node: Node) -> bool:
    return node.instruction.opcode == "broadcast"


def is_done_on_turned(search: Search, move: Node, other: Node) -> bool:
    """Return whether `other` does the work that a transpose moved, on operands transposed before.

    Of dimensions that are equally long, both have the shape of the transpose.
    """
    if move.instruction.opcode != "transpose" or _is_move(other):
        return False
    for source in _sources(search.before, move):
        if _does_the_same(source, other):
            copied = _copied(search, source, other) or ()
            return any(copy.instruction.opcode == "transpose" for _, copy in copied)
    return False


def _is_in_reader(before: Node, move: Node, after: Node, now: Node) -> bool:
    """Return whether a reader that is a move has taken in the move that it read.

    It takes elements from other places then, and nothing does that move before the work.
    """
    shapes = move.instruction.shape, now.instruction.shape
    permuted, permuted_now = (
        node.instruction.attributes.get("dimensions") for node in (before, after)
    )
    same = shapes[0].dimensions == shapes[1].dimensions and permuted == permuted_now
    return _is_move(after) and not same


def _follow(search: Search, source: Node, other: Node, move: Node | None) -> None:
    """Pair work with the same work on moved data, or note a copy, with all that it reads."""
    copied = _copied(search, source, other) or []
    read_as_data = _read_as_data(search.after, [copy for _, copy in copied])
    moves = [pair for pair in copied if _is_move(pair[1])]
    smaller = [pair for pair in moves if move is None or not same_count(move, pair[1])]
    for node, copy in (*(pair for pair in copied if pair not in smaller), *smaller):
        if not is_free(copy) or copy in search.copies:
            continue
        if _is_move(copy):
            if move is not None and copy in read_as_data and not _is_undone(search.after, copy):
                _pair_move(search, move, copy, source)
        elif is_free(node) and search.link(node, copy, Grade.MATCHED, _SAME):
            pass_chains(search, node, copy)
        else:
            search.copies[copy] = node, _again(node, copy)


def _is_undone(side: Side, move: Node) -> bool:
    """Return whether a move and those behind it give the dimensions that there were before."""
    dimensions = move.instruction.shape.dimensions
    behind = [*_sources(side, move)][1:]
    return any(source.instruction.shape.dimensions == dimensions for source in behind)


def _again(node: Node, copy: Node) -> str:
    """Return what a copy has of its own; what is made of constants reads no moved data."""
    if not node.constant:
        return _AGAIN
    alike = node.instruction.shape.dimensions == copy.instruction.shape.dimensions
    return _LAID_OUT if alike else _RESHAPED


def _read_as_data(side: Side, nodes: list[Node]) -> set[Node]:
    """Return the nodes, the first of which is a result, whose elements become elements of it."""
    read = set(nodes[:1])
    for node in nodes:
        if node in read and not _is_move(node):
            operands = enumerate(side.graph.operands(node))
            read |= {known for place, (known, _) in operands if is_data(node.instruction, place)}
    return read


def _copied(search: Search, source: Node, other: Node) -> list[tuple[Node, Node]] | None:
    """Return pairs of original and copy (or move) behind two nodes; None if they do not match."""
    waiting = [(source, other)]
    for node, copy in waiting:
        if _is_move(copy) or len(waiting) > _MOST_PAIRS:
            continue
        inner = _without_unit_dimensions(search.after, copy)
        if inner is not None and _does_the_same(node, inner):
            waiting.append((node, inner))
            continue
        values = search.after.values.read(copy)
        for (read, now), value in zip(operand_pairs(search, node, copy), values, strict=False):
            again = is_free(now) and (_does_the_same(read, now) or _are_turned(read, now))
            if not again and (_is_itself(search, read, now) or _is_unmoved(search, read, now)):
                continue
            if not again and value in _values_behind(search.before, read):
                continue  # an element of a tuple
            moved = _is_move(now) and _is_behind(search, read, now)
            if not moved and not again:
                return None
            if (read, now) not in waiting:
                waiting.append((read, now))
    return None if len(waiting) > _MOST_PAIRS else waiting


def _without_unit_dimensions(side: Side, node: Node) -> Node | None:
    """Return the broadcast to which a new broadcast only adds dimensions of one element."""
    operands = side.graph.operands(node) if _is_fill(node) else ()
    inner = operands[0][0] if operands and not operands[0][1] else None
    widened = inner is not None and is_free(inner) and _is_fill(inner) and same_count(inner, node)
    return inner if widened else None


def _are_turned(node: Node, other: Node) -> bool:
    """Return whether two iotas count the same, along the same or another dimension."""
    line, known = node.instruction, other.instruction
    return (
        line.opcode == known.opcode == "iota"
        and line.shape.element_type == known.shape.element_type
        and _iota_size(line) == _iota_size(known)
        and line.shape.element_count == known.shape.element_count
    )


def _iota_size(iota: Instruction) -> int | None:
    """Return how far an iota counts: the size of its dimension."""
    dimension = iota.attributes.get("iota_dimension", "")
    sizes = iota.shape.dimensions
    return sizes[int(dimension)] if dimension.isdigit() and int(dimension) < len(sizes) else None


def _is_behind(search: Search, read: Node, now: Node) -> bool:
    """Return whether `now` is moved from the same value as `read`."""
    behind = [*_sources(search.after, now)]
    sources = (read, *_sources(search.before, read))
    values = _values_behind(search.before, read)
    return not values.isdisjoint(_values_behind(search.after, now)) or any(
        _is_itself(search, source, other) for source in sources for other in behind
    )


def _values_behind(side: Side, node: Node) -> set[int]:
    """Return the value numbers of what a move and further moves move, elements of tuples too."""
    values: set[int] = set()
    for move in (node, *_sources(side, node)):
        if _is_move(move):
            values.update(side.values.read(move))
    return values - {UNKNOWN}


def _is_unmoved(search: Search, read: Node, now: Node) -> bool:
    """Return whether the operand of a move is read directly now."""
    return any(_is_itself(search, source, now) for source in _sources(search.before, read))


def _is_itself(search: Search, node: Node, other: Node) -> bool:
    """Return whether `other` continues `node`, or is an equal constant."""
    now = node_after(search, node)
    return now is other or (node.constant and node.token == other.token)


def _pair_move(search: Search, move: Node, now: Node, source: Node) -> None:
    """Pair a move with the one that now precedes the work that it followed."""
    alike = move.instruction.opcode == now.instruction.opcode
    if not alike or not is_free(move):
        search.copies[now] = move, _AGAIN
    else:
        reason = Past(source.instruction.name)
        search.link(move, now, Grade.MATCHED, reason, Relation.SWAPPED)


def _does_the_same(node: Node, other: Node) -> bool:
    """Return whether two nodes are the same operation on as many elements, but no moves."""
    line, known = node.instruction, other.instruction
    count = line.shape.element_count
    return (
        line.opcode == known.opcode
        and not _is_move(node)
        and line.opcode not in TUPLES
        and bool(line.operands)
        and len(line.operands) == len(known.operands)
        and count is not None
        and count == known.shape.element_count
        and line.shape.element_type == known.shape.element_type
        and line.attributes.get("direction") == known.attributes.get("direction")
        and not node.instruction.called
    )


def _sources(side: Side, move: Node) -> Iterator[Node]:
    """Yield the operands behind a move and further moves, one step at a time."""
    for _ in range(_MOST_MOVES):
        operands = side.graph.operands(move)
        if not _is_move(move) or len(operands) != 1 or operands[0][1]:
            return
        move = operands[0][0]
        yield move


def _is_move(node: Node) -> bool:
    return node.instruction.opcode in REARRANGEMENTS
