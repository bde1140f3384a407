"""Which operand an instruction returns as it is, apart from its dimensions."""

from collections.abc import Iterator, Sequence

from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.runtime.whole_numbers import parse_whole_number

_LONGEST = 32
"""Moves in a row that are looked behind."""
_SCALAR_MOVES = REARRANGEMENTS | {"broadcast", "convert"}
_OF_SAME_COUNT = frozenset({"broadcast", "convert", "pad", "reduce"})
"""Opcodes that pass on an operand of their element type and number of elements."""
_NEUTRAL = {
    "add": "0",
    "and": "true",
    "divide": "1",
    "maximum": "-inf",
    "minimum": "inf",
    "multiply": "1",
    "or": "false",
    "subtract": "0",
}
"""Operations that return an operand if the other is a constant, and that constant."""
_LEAST_AND_MOST = "maximum", "minimum"
"""Operations that return an operand beside the least, or the largest, number of its type."""
_SECOND = frozenset({"divide", "subtract"})
"""Of these, the constant is the second operand."""
_BOTH = (0, 1)
_CONSTANT_AT = {opcode: (1,) if opcode in _SECOND else _BOTH[::-1] for opcode in _NEUTRAL}


def passed_operand(side: Side, node: Node) -> int | None:
    """Return which operand has the elements of a node's result, each once; None if none has."""
    opcode = node.instruction.opcode
    operands = side.graph.operands(node)
    if not operands or node.instruction.shape.elements or operands[0][1]:
        return None
    if opcode in REARRANGEMENTS:
        return 0
    ours, theirs = node.instruction.shape, operands[0][0].instruction.shape
    if ours.element_type == theirs.element_type and opcode in _OF_SAME_COUNT:
        is_same = ours.element_count == theirs.element_count is not None
        return 0 if is_same and not _starts_otherwise(side, node) else None
    return beside_neutral(side, node)


def reduces_nothing(side: Side, node: Node) -> bool:
    """Return whether a reduction of one array has the elements of the array."""
    return node.instruction.opcode == "reduce" and passed_operand(side, node) is not None


def _starts_otherwise(side: Side, node: Node) -> bool:
    """Return whether a reduction starts with a number that changes its elements."""
    if node.instruction.opcode != "reduce":
        return False
    reducer = side.graph.module.callee(node.instruction, "to_apply")
    opcode = reducer.root.opcode if reducer is not None and reducer.root is not None else ""
    operands = side.graph.operands(node)
    start = scalar_of(side, operands[-1][0]) if len(operands) > 1 else None
    if opcode not in _COUNTING or start is None:
        return False
    return start.lstrip("-") not in (_NEUTRAL[opcode], _OF_PREDICATES[opcode])


_COUNTING = frozenset({"add", "multiply"})
"""Reductions whose start is written alike for every type of numbers where it changes nothing."""
_OF_PREDICATES = {"add": "false", "multiply": "true"}


def beside_neutral(side: Side, node: Node) -> int | None:
    """Return the operand that an operation returns as it is, because of its constants.

    Of a sum with 0, or of a choice between true and false.
    """
    opcode, operands = node.instruction.opcode, side.graph.operands(node)
    if opcode == "select":
        return 0 if _scalars(side, operands[1:]) == ["true", "false"] else None
    for place in _CONSTANT_AT.get(opcode, ()):
        if _scalars(side, operands[place : place + 1]) == [_neutral(node)]:
            return 1 - place
    return None


def _neutral(node: Node) -> str:
    """Return the constant beside which an operation returns its other operand, as written.

    Of whole numbers the least one of the type for a maximum, and the largest for a minimum.
    """
    opcode, element_type = node.instruction.opcode, node.instruction.shape.element_type
    kind, bits = element_type[:1], parse_whole_number(element_type[1:])
    if opcode not in _LEAST_AND_MOST or bits is None or kind not in {"s", "u"}:
        return _NEUTRAL[opcode]
    is_signed = kind == "s"
    if opcode == "maximum":
        return str(-(1 << (bits - 1))) if is_signed else "0"
    return str((1 << (bits - is_signed)) - 1)


def _scalars(side: Side, operands: Sequence[NodeElement]) -> list[str | None]:
    return [None if path else scalar_of(side, operand) for operand, path in operands]


def values_behind(side: Side, value: NodeElement) -> Iterator[NodeElement]:
    """Yield what a value passes on, from the nearest."""
    for _ in range(_LONGEST):
        place = None if value[1] else passed_operand(side, value[0])
        if place is None:
            return
        value = side.graph.operands(value[0])[place]
        yield value


def scalar_of(side: Side, node: Node) -> str | None:
    """Return the scalar constant that a node repeats, as written without a fraction of zero."""
    for _ in range(_LONGEST):
        if node.instruction.opcode == "constant":
            return node.instruction.argument.removesuffix(".0")
        operands = side.graph.operands(node)
        place = 0 if node.instruction.opcode in _SCALAR_MOVES else _beside_written(node, operands)
        if place is None or not operands:
            return None
        node = operands[place][0]
    return None


def _beside_written(node: Node, operands: Sequence[NodeElement]) -> int | None:
    """Return the operand that a node returns as it is, beside a constant that is its operand."""
    opcode = node.instruction.opcode
    for place in _CONSTANT_AT.get(opcode, ()) if len(operands) == len(_BOTH) else ():
        line = operands[place][0].instruction
        if line.opcode == "constant" and line.argument.removesuffix(".0") == _neutral(node):
            return 1 - place
    return None


def dimensions_of(node: Node) -> Sequence[int | None]:
    """Return the dimensions of a node's result."""
    return node.instruction.shape.dimensions
