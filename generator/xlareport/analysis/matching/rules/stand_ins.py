"""Whether an instruction that replaced another as operand can be its continuation."""

from collections import Counter
from collections.abc import Iterator, Sequence

from xlareport.analysis.matching.rules.loops.opened_results import sole_opened
from xlareport.analysis.matching.rules.sources import same_move_behind, sources_behind
from xlareport.analysis.matching.search.nodes import (
    are_tuples,
    is_free,
    is_root,
    node_after,
    origin,
    paired_users,
    read_at,
    same_count,
    same_type,
    target_of,
)
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.element_orders import are_permuted, keep_order, kinds_of
from xlareport.analysis.matching.sides.facts import TRANSPARENT, dimension_numbers
from xlareport.analysis.matching.sides.families import BUFFER, family_of
from xlareport.analysis.matching.sides.graph import Node, NodeElement, opcode_of
from xlareport.analysis.matching.sides.parameters import is_part
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import (
    COMMUTATIVE,
    DENSE_PRODUCTS,
    MOVES,
    REARRANGEMENTS,
    SAME_ORDER,
)

_COMBINES = "X64Combine"
"""Target of custom calls that make a 64-bit value of two halves, which do its work."""
_FILLS = frozenset({"broadcast", "constant", "iota"})
"""Opcodes of fill values, which passes replace with one another or move."""
_SUMS = frozenset({"all-reduce", "all-reduce-done", "all-reduce-start", "reduce", "reduce-scatter"})
"""Opcodes that combine numbers: none does what a move did."""
_OTHER_WORK = {("all-reduce", "reduce"), ("divide", "reduce"), ("reduce", "slice")} | {
    ("add", f"all-reduce{end}") for end in ("", "-done")
}
"""Opcodes of a sum and what is none, or of two sums of which only one is over devices."""
PASSING = (
    _FILLS
    | REARRANGEMENTS
    | TRANSPARENT
    | {"convert", "get-tuple-element", "pad", "parameter", "slice"}
)
"""Opcodes that compute nothing or only round; each can replace a fill value."""
RESHAPES = REARRANGEMENTS - {"copy"}
"""Opcodes that move elements and copy nothing."""


def could_do_its_work(node: Node, other: Node) -> bool:
    """Return whether the new operand can do the work of the old one.

    A fill value or an uninitialized buffer does no arithmetic, and the end of a copy to another
    memory space only copied. Two halves that are combined were computed before. Only a product with
    zeros has equal elements. No move of data multiplies, and no slice adds up. A tuple that a
    called computation makes of its parameters is none of the caller's.
    """
    if _only_moves(node, other):
        return False
    if target_of(other) in {BUFFER, _COMBINES}:
        return target_of(node) == target_of(other)
    if opcode_of(other) == "copy-done":
        return opcode_of(node).startswith("copy")
    if only_gathers(node, other) or _is_turned(node, other) or _is_only_copied(node, other):
        return False
    if _is_only_removed(node, other) or _is_of_callee(node, other):
        return False
    fills = opcode_of(node) in _FILLS and not other.constant
    return not fills or opcode_of(other) in PASSING


def _only_moves(node: Node, other: Node) -> bool:
    """Return whether a move or a fill has the place of a product or a sum, or a sum of a move."""
    if opcode_of(other) in MOVES - _FILLS and opcode_of(node) in DENSE_PRODUCTS:
        return True
    opcodes = opcode_of(node), opcode_of(other)
    if opcodes in _OTHER_WORK or (opcodes[0] in REARRANGEMENTS and opcodes[1] in _SUMS):
        return True
    is_product = family_of(node.instruction) == "product" and not node.constant
    return is_product and _fills_otherwise(other)


def _is_only_removed(node: Node, other: Node) -> bool:
    """Return whether a reshape to the dimensions that there are was removed."""
    return opcode_of(node) == "reshape" != opcode_of(other) and _is_identity(node)


def _is_of_callee(node: Node, other: Node) -> bool:
    """Return whether a tuple is in another computation than the parameter that it may have been."""
    codes = opcode_of(node), opcode_of(other)
    return codes == ("parameter", "tuple") and node.frame.number != other.frame.number


def _fills_otherwise(node: Node) -> bool:
    """Return whether a node repeats one number, and not zero."""
    line, home = node.instruction, node.frame.computation
    filled = home.operand(line) if line.opcode == "broadcast" else line
    if filled is None or filled.opcode != "constant" or filled.shape.element_count != 1:
        return False
    return bool(filled.argument.strip("-0.({})"))


def _is_turned(node: Node, other: Node) -> bool:
    """Return whether a transpose has the elements in another order than a reshape.

    Than a reshape of its own shape before, or than one of what it was of.
    """
    opcodes = opcode_of(node), opcode_of(other)
    if opcodes == ("reshape", "transpose"):
        alike = node.instruction.shape.dimensions == other.instruction.shape.dimensions
        return alike and _turns(other)
    return opcodes == ("transpose", "reshape") and _turns(node) and _are_of_same(node, other)


def _is_identity(reshape: Node) -> bool:
    """Return whether a reshape is to the dimensions that there are: passes only remove it."""
    source = _operand(reshape)
    dimensions = reshape.instruction.shape.dimensions
    return source is not None and source.instruction.shape.dimensions == dimensions


def _is_only_copied(node: Node, other: Node) -> bool:
    """Return whether a copy that keeps the layout is read instead of another move.

    The move was an identity, or was folded into its user; the copy of a parameter or of a result
    was inserted.
    """
    source = _operand(other) if opcode_of(other) == "copy" else None
    same = source is not None and source.instruction.shape == other.instruction.shape
    return same and opcode_of(node) in RESHAPES


def _turns(transpose: Node) -> bool:
    """Return whether a transpose exchanges dimensions of more than one element."""
    sizes = transpose.instruction.shape.dimensions
    numbers = zip(dimension_numbers(transpose.instruction), sizes, strict=False)
    long = [number for number, size in numbers if size != 1]
    return long != sorted(long)


def _are_of_same(move: Node, other: Node) -> bool:
    """Return whether the operands of two moves are counterparts."""
    read, now = _operand(move), _operand(other)
    return read is not None and read.partner is not None and read.partner is now


def _operand(move: Node) -> Node | None:
    line = move.frame.computation.operand(move.instruction)
    return None if line is None else move.frame.node(line)


def was_evaluated(node: Node, other: Node) -> bool:
    """Whether a constant is read instead of the only result of a conditional on constants."""
    elements = node.instruction.shape.elements
    return (
        opcode_of(node) == "conditional" and len(elements) == 1 and opcode_of(other) == "constant"
    )


def only_gathers(node: Node, other: Node) -> bool:
    """Whether constants of an expression were gathered in another of the same operation.

    `(x - 1) + 3` as `x + (3 - 1)`: what is made of constants alone is not what was made of a value.
    Nor of another one: `(0 + x) * 4` with `x = y * 2` as `y * (2 * 4)`.
    Nor is a smaller array, repeated: `(x * a) * b` as `x * (a * b)`.
    """
    if opcode_of(node) in _ARITHMETIC and opcode_of(other) == "broadcast" and not other.constant:
        return any(read.opcode not in _FILLS for read in _lines_read(node))
    alike = opcode_of(node) == opcode_of(other) and opcode_of(node) not in PASSING
    both = opcode_of(node) in _ARITHMETIC and opcode_of(other) in _ARITHMETIC
    return (alike or both) and other.constant and not node.constant


def _became_needless(node: Node, source: Node | None, other: Node) -> bool:
    """Return whether a reshape's source has the reshape's dimensions now, unlike another move."""
    partner = None if source is None else source.partner
    dimensions = node.instruction.shape.dimensions
    if partner is None or opcode_of(node) not in SAME_ORDER or opcode_of(node) == opcode_of(other):
        return False
    moved = other.instruction.shape.dimensions
    return partner.instruction.shape.dimensions == dimensions != moved


def moves_same(search: Search, node: Node, other: Node) -> bool:
    """Return whether two moves read the same value, the second maybe through more moves.

    Or the first through a move that the second is now.
    """
    before, after = search.before, search.after
    if _became_needless(node, read_at(before, node, 0), other):
        return False
    read = before.values.read(node)
    moves = (other, *sources_behind(after.graph, other))
    if read and any(after.values.read(move) == read for move in moves):
        return True
    return same_move_behind(before, node, after, other) is not None


def _lines_read(node: Node) -> Iterator[Instruction]:
    lines = node.frame.computation.by_name
    return (lines[name] for name in node.instruction.operand_names if name in lines)


_ARITHMETIC = frozenset({"add", "divide", "multiply", "power", "subtract"})


def is_work_behind(source: Node, move: Node, other: Node) -> bool:
    """Return whether an operation was replaced with another and the move of its result is gone."""
    if opcode_of(move) not in REARRANGEMENTS or other.constant or opcode_of(other) in _NO_WORK:
        return False
    return opcode_of(source) not in _NO_WORK | {"convert"}


_NO_WORK = _FILLS | REARRANGEMENTS | TRANSPARENT | {"get-tuple-element", "parameter"}


def needs_constant(before: Node, after: Node, node: Node) -> bool:
    """Return whether a new opcode needs a constant more: `x * mask` as `select(mask, x, 0)`.

    `node` is what the old one read.
    """
    opcodes = opcode_of(before), opcode_of(after)
    return (opcodes == _MASKED or not node.constant) and len({*opcodes}) > 1


_MASKED = "multiply", "select"


def are_reordered(node: Node, other: Node) -> bool:
    """Return whether two tuples have the same elements in another order: places say nothing."""
    old, new = node.instruction.shape, other.instruction.shape
    return bool(old.elements) and are_tuples(node, other) and are_permuted(old, new)


def start_loops(loop: Node, starts: tuple[Node, Node]) -> bool:
    """Return whether two unpaired tuples, of however many elements, are what paired loops get.

    Or what branches of paired conditionals get.
    """
    return (
        opcode_of(loop) in {"conditional", "while"}
        and are_tuples(*starts)
        and all(map(is_free, starts))
    )


def start_now(start: Node, other: Node) -> Node:
    """Return which new tuple a start continues as, where `other` is what its loop gets now.

    An old start that has most elements of another tuple is that again.
    """
    return start_behind(other) if start_behind(start) is start else other


def start_behind(start: Node) -> Node:
    """Return the free tuple of which a tuple has most elements again, copied or not; else that.

    So a pass gives a loop elements in other layouts.
    """
    home = start.frame.computation
    sources: Counter[str] = Counter()
    for name in start.instruction.operand_names:
        line = home.by_name.get(name)
        if line is not None and line.opcode == "copy":
            line = home.operand(line)
        if line is not None and line.opcode == "get-tuple-element":
            sources.update([*line.operand_names][:1])
    for name, count in sources.most_common(1):
        line = home.by_name.get(name)
        most = 2 * count > len(start.instruction.operands)
        if most and line is not None and line.opcode == "tuple" and is_free(start.frame.node(line)):
            return start.frame.node(line)
    return start


def is_moved_by_copy(node: Node, copy: Node, source: Node) -> bool:
    """Return whether a move continues as the move whose result is copied, not as the copy."""
    moves = opcode_of(node) in RESHAPES and opcode_of(source) in RESHAPES
    return moves and opcode_of(copy) == "copy"


def is_behind_moves(node: Node, source: Node) -> bool:
    """Return whether a node continues as the source of a move: an equal operation or transpose.

    Passes exchange moves and elementwise operations, and normalize copies.
    """
    if opcode_of(node) == "copy":
        return opcode_of(source) == "transpose"
    moves = opcode_of(node) in REARRANGEMENTS
    return not moves and opcode_of(node) == opcode_of(source) and same_count(node, source)


def is_masked_part(node: Node, other: Node) -> bool:
    """Return whether a device selects its part of what was padded: the SPMD partitioner's pad."""
    opcodes = opcode_of(node), opcode_of(other)
    return opcodes == ("pad", "select") and is_part(node.instruction.shape, other.instruction.shape)


def may_be_resized(node: Node, other: Node) -> bool:
    """Return whether the results of two like operations on like operands may be one value."""
    sizes, others = node.instruction.shape.dimensions, other.instruction.shape.dimensions
    alike = len(sizes) == len(others) and same_type(node, other)
    return alike or opcode_of(node) == "broadcast"


def is_reshaped(node: Node, other: Node) -> bool:
    """Return whether two light operations of one framework op differ only in their dimensions."""
    line, opcode = node.instruction, opcode_of(node)
    if opcode != opcode_of(other) or opcode in REARRANGEMENTS or family_of(line) is not None:
        return False
    alike = same_type(node, other) and same_count(node, other)
    return alike and bool(line.operands) and origin(node) == origin(other)


def is_retyped(node: Node, other: Node) -> bool:
    """Return whether two constants are one number in two element types."""
    old, new = node.instruction, other.instruction
    same = old.opcode == new.opcode == "constant" and old.argument == new.argument
    return same and old.shape.dimensions == new.shape.dimensions


def keep_places(node: Node, other: Node) -> bool:
    """Return whether the elements of two tuples may be the same ones, place by place."""
    old, new = node.instruction.shape, other.instruction.shape
    return bool(old.elements) and keep_order(old, new)


def reads_added(node: Node, read: NodeElement) -> bool:
    """Return whether an element was added behind all those that a tuple had: it is none of them."""
    (other, path), old = read, kinds_of(node.instruction.shape)
    new = kinds_of(other.instruction.shape)
    return bool(old and path) and path[0] >= len(old) and new[: len(old)] == old


def are_of_reordered(
    node: Node, other: Node, read: Sequence[NodeElement], now: Sequence[NodeElement]
) -> bool:
    """Return whether two nodes take elements of a reordered tuple, and of no kind alone.

    Their numbers say nothing then; what reads them does. The tuple may have more elements now, such
    as copies of constants for each use, or fewer. `read` and `now` are the operands of the nodes.
    """
    if not node.element or not other.element or not read or not now:
        return False
    whole, others = (operands[0][0].instruction.shape for operands in (read, now))
    old, new, shape = kinds_of(whole), kinds_of(others), node.instruction.shape
    is_alone = Counter(old)[shape.element_type, len(shape.dimensions)] == 1
    is_whole = Counter(old) <= Counter(new) or Counter(new) <= Counter(old)
    is_moved = old[: len(new)] != new[: len(old)] or are_permuted(whole, others)
    return is_whole and is_moved and not is_alone


_COMMUTATIVE = COMMUTATIVE | {"tuple"}
"""Opcodes of which the places of operands say little: a pass may swap them."""


def are_placed(
    search: Search, node: Node, read: Sequence[NodeElement], now: Sequence[NodeElement]
) -> bool:
    """Return whether the places of operands say which is which: not of a dot that was turned."""
    turned = opcode_of(node) == "dot" and any(
        path == there and node_after(search, operand) is other
        for (operand, path), (other, there) in zip(read, reversed(now), strict=False)
    )
    return not turned and opcode_of(node) not in _COMMUTATIVE


def is_turned_by_constant(
    node: Node, read: Sequence[NodeElement], now: Sequence[NodeElement]
) -> bool:
    """Return whether a commutative operation read a constant first, and reads one last now.

    Or the reverse: passes put the constant of an addition last.
    """
    constants = [operand.constant for operand, _ in read]
    others = [operand.constant for operand, _ in now]
    turned = len(constants) == 2 and constants[0] != constants[1]
    return turned and opcode_of(node) in COMMUTATIVE and others == constants[::-1]


def is_read_as_another(search: Search, node: Node, other: Node) -> bool:
    """Return whether the paired users of a new move read another unpaired move before.

    Or whether a result of a body is another tuple than one that the body begins with now.
    """
    if opcode_of(node) == "tuple" and is_root(node):
        result = other.frame.computation.root
        opened = None if result is None else sole_opened(node, other.frame.node(result))
        return opened is not None and opened is not other
    if other.instruction.opcode not in REARRANGEMENTS:
        return False
    reads = [read_at(search.before, reader, place) for _, reader, place in paired_users(other)]
    moves = [read for read in reads if read and read.instruction.opcode in REARRANGEMENTS]
    return node not in reads and any(map(is_free, moves))
