"""What the inputs of two nodes say against a pair: other constants, other parameters."""

from collections.abc import Collection

from xlareport.analysis.matching.sides.graph import Graph, Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import MOVES, REARRANGEMENTS
from xlareport.hlo.shape import Shape
from xlareport.knowledge.opcodes import opcode_work

_MOST_MOVES = 4
"""Moves in a row that are looked behind."""
_PASSED = REARRANGEMENTS | {"convert"}
_ELEMENTWISE = opcode_work().by_element


def contradict(before: Side, node: Node, after: Side, other: Node) -> bool:
    """Return whether two nodes of one opcode repeat other constants, or compute of other inputs.

    An instruction that keeps its name may read another input: of two equal ones, say.
    """
    line, now = node.instruction, other.instruction
    if line.opcode != now.opcode:
        return False
    if line.opcode == "broadcast" and _is_one_scalar(line) != _is_one_scalar(now):
        return True
    if node.constant:
        return _repeat_other_constants(before, node, after, other)
    if line.opcode == "broadcast":
        return _repeats(before, node) != _repeats(after, other)
    if line.name == now.name or line.opcode not in _ELEMENTWISE:
        return False
    return (
        _read_others(before, node, after, other)
        or _compute_of_others(before, node, after, other)
        or _is_behind_exchanged(before, node, after, other)
    )


def _is_one_scalar(broadcast: Instruction) -> bool:
    """Return whether a broadcast gives a scalar as it is, as `algsimp` leaves some."""
    return not broadcast.shape.dimensions


def _repeats(side: Side, node: Node) -> bool:
    """Return whether a broadcast repeats its operand, rather than only give it dimensions of 1."""
    operands = side.graph.operands(node)
    if len(operands) != 1:
        return True
    count = node.instruction.shape.element_count
    return count is None or count != _shape_of(operands[0]).element_count


def _shape_of(value: NodeElement) -> Shape:
    """Return the shape of a result, or of an element of it."""
    shape = value[0].instruction.shape
    for number in value[1]:
        if number >= len(shape.elements):
            break
        shape = shape.elements[number]
    return shape


def _repeat_other_constants(before: Side, node: Node, after: Side, other: Node) -> bool:
    """Return whether two nodes move constants of one shape and other values.

    A constant becomes a sum or product of constants, where terms are grouped otherwise, but no
    choice between values.
    """
    ours, theirs = (
        behind(side.graph, (moving, ()), MOVES)[0].instruction
        for side, moving in ((before, node), (after, other))
    )
    if ours.opcode != "constant" or ours is node.instruction:
        return False
    if theirs.opcode != "constant":
        return theirs.opcode == "select"
    return ours.shape == theirs.shape and ours.argument != theirs.argument


def _read_others(before: Side, node: Node, after: Side, other: Node) -> bool:
    """Return whether two nodes read, behind moves, different parameters or elements of tuples.

    A pass moves these, and exchanges none for another.
    """
    read, now = _inputs(before.graph, node), _inputs(after.graph, other)
    if not read or len(read) != len(now):
        return False
    known = {(after.counterpart(source), path) for source, path in read}
    back = {(before.counterpart(source), path) for source, path in now}
    return known != {*now} and all(source for source, _ in (*known, *back))


def _compute_of_others(before: Side, node: Node, after: Side, other: Node) -> bool:
    """Return whether the only operands, behind moves and converts, are of two paired values.

    Each continues as another, so neither was exchanged for the other. Of two that read one another
    the nodes may have passed the second.
    """
    read, now = before.graph.operands(node), after.graph.operands(other)
    if not len(read) == len(now) == 1:
        return False
    source, path = behind(before.graph, read[0], _PASSED)
    known, there = behind(after.graph, now[0], _PASSED)
    if path or there:
        return False
    ours, theirs = after.counterpart(source), before.counterpart(known)
    if ours is None or theirs is None or ours is known:
        return False
    return not (_reads(after.graph, known, ours) or _reads(before.graph, source, theirs))


def _is_behind_exchanged(before: Side, node: Node, after: Side, other: Node) -> bool:
    """Return whether a node reads new arithmetic that took the place of the other.

    That is of its framework op and reads what it read: of `x / a / b` as `x * (1/a) / b` the
    product stands for the first division.
    """
    line, now = _first_read(before, node), _first_read(after, other)
    if line is None or now is None or now.kept or now.partner is not None:
        return False
    behind_it, read = _first_read(after, now), now.instruction
    if behind_it is None or behind_it.token != line.token:
        return False
    message = node.instruction.metadata.op_name
    return (
        bool(message)
        and read.metadata.op_name == message
        and read.opcode != node.instruction.opcode
        and {read.opcode, node.instruction.opcode} <= _EXCHANGED
        and read.shape.dimensions == node.instruction.shape.dimensions
        and node.frame.number == other.frame.number
    )


_EXCHANGED = frozenset({"add", "divide", "multiply", "subtract"})
"""Opcodes of arithmetic with a constant that passes exchange for one another."""
_OPERANDS = 2


def _first_read(side: Side, node: Node) -> Node | None:
    operands = side.graph.operands(node)
    return operands[0][0] if len(operands) == _OPERANDS and not operands[0][1] else None


def _reads(graph: Graph, node: Node, source: Node) -> bool:
    """Return whether an operand of a node is, behind moves and converts, a source."""
    read = (behind(graph, operand, _PASSED)[0] for operand in graph.operands(node))
    return any(operand is source for operand in read)


def _inputs(graph: Graph, node: Node) -> list[NodeElement]:
    """Return the inputs of the computation that a node reads, itself or behind moves.

    Of elements those of instructions that stay as they are: others may number them anew.
    """
    sources = (behind(graph, operand, REARRANGEMENTS) for operand in graph.operands(node))
    return [
        (source, path)
        for source, path in sources
        if (source.instruction.opcode == "parameter") != bool(path) and (source.kept or not path)
    ]


def behind(graph: Graph, value: NodeElement, moves: Collection[str]) -> NodeElement:
    """Return what is behind a few moves of a value: the value itself if it is none of these."""
    for _ in range(_MOST_MOVES):
        operands = graph.operands(value[0])
        is_move = value[0].instruction.opcode in moves and len(operands) == 1
        if value[1] or not is_move:
            break
        value = operands[0]
    return value
