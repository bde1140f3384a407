"""What is behind the free moves, converts and collectives of a value."""

from collections import Counter
from collections.abc import Iterator

from xlareport.analysis.cost.tiling import minor_to_major
from xlareport.analysis.matching.search.nodes import (
    has_same_origin,
    is_free,
    node_after,
    origin,
    read_at,
    same_count,
    same_form,
    same_type,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Graph, Node, NodeElement
from xlareport.analysis.matching.sides.inputs import behind
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import MOVES, REARRANGEMENTS, SAME_ORDER
from xlareport.hlo.shape import Shape

COLLECTIVE = "collective"
"""The family of collectives."""
_DONE = "-done"
_MOST_MOVES = 12
"""Moves in a row that are looked behind."""
_MOST_SENDINGS = 8
"""Moves and collectives in a row that are looked behind."""


def sent_from(
    side: Side, operand: NodeElement, through: frozenset[str] = REARRANGEMENTS
) -> Iterator[Node]:
    """Yield an operand, then the operands behind free moves and collectives in a row."""
    node, path = operand
    for _ in range(_MOST_SENDINGS):
        yield node
        operands, is_done = side.graph.operands(node), node.instruction.opcode.endswith(_DONE)
        passes = is_done or node.instruction.opcode in through
        if not is_free(node) or not operands:
            return
        if not passes and family_of(node.instruction) != COLLECTIVE:
            return
        number = path[0] if path and len(operands) > 1 else 0
        if number >= len(operands):
            return
        passed = path if is_done else path[1:]
        node, inner = operands[number]
        path = (*inner, *passed)


def behind_collectives(search: Search, node: Node, operand: NodeElement) -> Node | None:
    """Return the like of a node that collectives, which a pass inserted, send to its user."""
    sent = False
    for other in sent_from(search.after, operand):
        sent = sent or family_of(other.instruction) == COLLECTIVE
        like = same_form(search, node, other) or has_same_origin(node, other)
        if sent and is_free(other) and like and family_of(other.instruction) != COLLECTIVE:
            return other
    return None


def behind_share(search: Search, node: Node, other: Node) -> Node | None:
    """Return the like of a node behind what the SPMD partitioner puts around a device's share."""
    if not search.divided:
        return None
    parts = (_behind_mask, _behind_offset, _behind_bounds)
    return next(filter(None, (part(search, node, other) for part in parts)), None)


def _behind_mask(search: Search, node: Node, other: Node) -> Node | None:
    """Return the like of a node that a new select masks, as a device does what is not its own.

    The SPMD partitioner masks shards so, and all but one copy of what is added up later; the value
    comes last then, behind the mask and its fill.
    """
    if other.instruction.opcode != "select":
        return None
    if node.instruction.opcode == "select":
        return None
    for masked, path in reversed(search.after.graph.operands(other)[1:]):
        like = same_form(search, node, masked) or has_same_origin(node, masked)
        if is_free(masked) and not path and like:
            return masked
    return None


def _behind_offset(search: Search, node: Node, other: Node) -> Node | None:
    """Return the iota over a device's share of a sharded one, to which an offset is added."""
    if (node.instruction.opcode, other.instruction.opcode) != _OFFSET:
        return None
    read = [operand for operand, _ in search.after.graph.operands(other)]
    shares = [now for now in read if is_free(now) and now.instruction.opcode == "iota"]
    return shares[0] if len(shares) == 1 else None


_OFFSET = "iota", "add"


def _behind_bounds(search: Search, node: Node, other: Node) -> Node | None:
    """Return the like of an index that a device limits to its share, and subtracts its start of."""
    if other.instruction.opcode != "subtract":
        return None
    limited = read_at(search.after, other, 0)
    if limited is None or limited.instruction.opcode != "clamp":
        return None
    operands = search.after.graph.operands(limited)
    if len(operands) <= _INDEX:
        return None
    index, path = operands[_INDEX]
    if not path and is_free(index) and same_form(search, node, index):
        return index
    return behind_collectives(search, node, (index, path))


_INDEX = 1
"""The place of what a clamp limits."""


def passed_by(node: Node) -> frozenset[str]:
    """Return what an operation passes: moves, and converts if it is none."""
    return REARRANGEMENTS if node.instruction.opcode == "convert" else REARRANGEMENTS | {"convert"}


def sources_behind(
    graph: Graph,
    node: Node,
    through: frozenset[str] = REARRANGEMENTS,
    *,
    past_paired: bool = False,
) -> Iterator[Node]:
    """Yield the operands behind free moves, one at a time; behind paired ones `past_paired`."""
    for _ in range(_MOST_MOVES):
        operands = graph.operands(node)
        passes = past_paired or is_free(node)
        if not passes or len(operands) != 1:
            return
        only_shapes = "reshape" in through and is_repeating_none(node, operands[0][0])
        if node.instruction.opcode not in through and not only_shapes:
            return
        node = operands[0][0]
        yield node


def is_repeating_none(node: Node, source: Node) -> bool:
    """Return whether a node is a broadcast that has as many elements as its operand."""
    return node.instruction.opcode == "broadcast" and same_count(node, source)


def are_moves_of_op(node: Node, other: Node) -> bool:
    """Return whether two nodes are moves of one framework op."""
    message = origin(node)
    moves = {node.instruction.opcode, other.instruction.opcode} <= REARRANGEMENTS
    return moves and bool(message) and message == origin(other)


def move_laid_out(graph: Graph, node: Node, other: Node) -> Node | None:
    """Return the free move, like an old one, whose result a new copy only gives another layout."""
    line, read = node.instruction, graph.operands(other)[:1]
    if line.opcode not in _NO_COPIES or other.instruction.opcode != "copy" or not read:
        return None
    (source, path), known = read[0], read[0][0].instruction
    alike = line.opcode == known.opcode and line.shape.dimensions == known.shape.dimensions
    alike = alike and dimension_numbers(line) == dimension_numbers(known)
    return source if alike and not path and is_free(source) else None


def work_behind(graph: Graph, node: Node, other: Node) -> Node:
    """Return the free operation behind moves that move nothing; `other` if the node is a move.

    A pass that expands an operation ends it so, and the next one removes these moves.
    """
    work = other
    if node.instruction.opcode not in REARRANGEMENTS:
        for source in sources_behind(graph, other, _NO_COPIES):
            if not _moves_nothing(work, source):
                break
            work = source
    return work if is_free(work) else other


def works_on_moved(search: Search, node: Node, other: Node) -> bool:
    """Return whether new work reads what a move read, so that it is no continuation of the move.

    `x / repeated(y)` as `x * repeated(1 / y)`: the reciprocal is not a reshape of `y` on its way.
    """
    if node.instruction.opcode not in _NO_COPIES or other.instruction.opcode in _NO_WORK:
        return False
    moved = {node_after(search, source) for source in _sources(search.before.graph, node)} - {None}
    graph = search.after.graph
    return any(
        source in moved
        for read, _ in graph.operands(other)
        for source in (read, *_sources(graph, read))
    )


def _sources(graph: Graph, node: Node) -> Iterator[Node]:
    """Yield what is behind moves of a node, and behind those that repeat a constant."""
    yield from sources_behind(graph, node, past_paired=True)
    if node.constant:
        yield behind(graph, (node, ()), MOVES)[0]


_NO_WORK = REARRANGEMENTS | {
    "broadcast",
    "constant",
    "convert",
    "iota",
    "pad",
    "parameter",
    "slice",
}


def _moves_nothing(move: Node, source: Node) -> bool:
    """Return whether a move has the shape of its operand and the dimensions in the same order."""
    line = move.instruction
    order = line.attributes.get("dimensions", "").strip("{}")
    kept = ",".join(map(str, range(len(line.shape.dimensions))))
    return line.shape.text == source.instruction.shape.text and order in {"", kept}


def has_like_behind(search: Search, node: Node, other: Node) -> bool:
    """Return whether bitcasts hide the same operation of a framework op, its dimensions permuted.

    Layouts are normalized so.
    """
    sizes = node.instruction.shape.dimensions
    if other.instruction.opcode not in _MOVE_NOTHING or not same_count(node, other):
        return False
    return any(
        is_free(source)
        and has_same_origin(node, source)
        and source.instruction.shape.dimensions != sizes
        and Counter(source.instruction.shape.dimensions) == Counter(sizes)
        for source in sources_behind(search.after.graph, other, _MOVE_NOTHING)
    )


def copy_behind(graph: Graph, node: Node, other: Node) -> Node | None:
    """Return the free copy of as many elements that bitcasts now hide from the reader of a copy.

    Or the transpose, as which layouts are normalized. A bitcast moves nothing, so it is not what
    continues the copy.
    """
    if node.instruction.opcode != "copy" or other.instruction.opcode != "bitcast":
        return None
    for source in sources_behind(graph, other, _MOVE_NOTHING):
        if source.instruction.opcode in ("copy", "transpose"):
            alike = same_count(node, source) and same_type(node, source)
            return source if alike and is_free(source) else None
    return None


_MOVE_NOTHING = frozenset({"bitcast"})
_NO_COPIES = REARRANGEMENTS - {"copy"}


def same_move_behind(here: Side, node: Node, there: Side, other: Node) -> Node | None:
    """Return the free move that a move reads, if a new move gives its operand its dimensions now.

    The new move is then that one, of whatever opcode, and not the move that read it. A normalized
    layout makes dimensions of the order in memory.
    """
    source, read = read_at(here, node, 0), there.values.read(other)
    moves = (node, other) if source is None else (node, other, source)
    if source is None or not is_free(source) or not read:
        return None
    if any(move.instruction.opcode not in REARRANGEMENTS for move in moves):
        return None
    old, sizes = source.instruction.shape, other.instruction.shape.dimensions
    if sizes != old.dimensions and sizes != _sizes_in_memory(old):
        return None
    return source if here.values.read(source) == read != here.values.read(node) else None


def _sizes_in_memory(shape: Shape) -> tuple[int | None, ...]:
    """Return the dimensions as they lie in memory, which a normalized layout writes so."""
    order, sizes = minor_to_major(shape), shape.dimensions
    known = sorted(order) == [*range(len(sizes))]
    return tuple(sizes[number] for number in reversed(order)) if known else sizes


def crossed_copies(search: Search, node: Node, other: Node) -> tuple[tuple[Node, Node], ...]:
    """Return the pairs of a copy and a reshape that changed places; empty where they did not.

    `node` and `other` are the second move of each order; a reshape may have become a bitcast.
    """
    first, now_first = read_at(search.before, node, 0), read_at(search.after, other, 0)
    if first is None or now_first is None or not (is_free(first) and is_free(now_first)):
        return ()
    pairs = (first, other), (node, now_first)
    for copies, shaped in (pairs, pairs[::-1]):
        opcodes = {move.instruction.opcode for move in shaped}
        if {move.instruction.opcode for move in copies} == {"copy"} and opcodes <= SAME_ORDER:
            return pairs
    return ()
