"""What tells work on the same values apart: the dimensions that it sums over, behind transposes.

`x * x'` and `x' * x` read the same values, and a pass that folds the transposes into both changes
the numbers of the dimensions, not which dimensions of `x` these are. So do sums of the rows and of
the columns of a value. Dimensions of one element, which passes add and drop, do not count.
"""

import re
from collections.abc import Sequence
from math import prod

from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side

_KEPT = frozenset({"convert", "copy"})
_RENUMBERED = frozenset({"bitcast", "broadcast", "pad", "reshape"})
_SIZES = re.compile(r"\bsize=([\dx]{1,99})")
_LONGEST = 8
_SIDES = ("lhs", "rhs")
_SUM_OPERANDS = 2
"""What a sum of one value reads: the value and what it starts from."""

Summed = tuple[tuple[int, ...], tuple[int, ...]]
"""The contracting and the batch dimensions of an operand."""
ReducedDimensions = tuple[tuple[int, ...], int]
"""The dimensions that a sum takes of a value, and the number of the value."""


def summed_over(side: Side, dot: Node) -> tuple[Summed, ...] | None:
    """Return the dimensions that a dot sums over and repeats, of what its transposes read.

    None for other opcodes, and behind what gives other dimensions; operands are in any order.
    """
    operands = side.graph.operands(dot)
    if dot.instruction.opcode != "dot" or len(operands) != len(_SIDES):
        return None
    sums: list[Summed] = []
    for name, operand in zip(_SIDES, operands, strict=True):
        numbers = [_numbers(dot, f"{name}_{kind}_dims") for kind in ("contracting", "batch")]
        behind = _behind_moves(side, operand, numbers)
        if behind is None:
            return None
        sums.append((tuple(sorted(behind[0][0])), tuple(sorted(behind[0][1]))))
    return tuple(sorted(sums))


def reduced_over(side: Side, node: Node) -> ReducedDimensions | None:
    """Return the dimensions that a reduce sums over, and of which value behind its transposes.

    None for other opcodes, for a reduce of several values, and behind what gives other dimensions.
    """
    operands = side.graph.operands(node)
    if node.instruction.opcode != "reduce" or len(operands) != _SUM_OPERANDS:
        return None
    behind = _behind_moves(side, operands[0], [_numbers(node, "dimensions")])
    return None if behind is None else (tuple(sorted(behind[0][0])), side.value_of(behind[1]))


def reach(node: Node) -> int:
    """Return how many elements the window of a windowed reduction spans; 0 of other work.

    A running sum is taken in blocks by windows that span less than the one that sums all.
    """
    if node.instruction.opcode != "reduce-window":
        return 0
    sizes = _SIZES.search(node.instruction.attributes.get("window", ""))
    return prod(int(size) for size in sizes[1].split("x") if size) if sizes else 0


def _numbers(node: Node, name: str) -> list[int]:
    text = node.instruction.attributes.get(name, "")
    return [int(number) for number in re.findall(r"\d{1,9}", text)]


def _behind_moves(
    side: Side, operand: NodeElement, numbers: list[list[int]]
) -> tuple[list[list[int]], NodeElement] | None:
    """Return the numbers of dimensions behind moves, and what is there; None if they are others."""
    if not operand[1]:
        long = _long(operand[0].instruction.shape.dimensions)
        numbers = [[number for number in kind if number in long] for kind in numbers]
    for _ in range(_LONGEST):
        if operand[1] or operand[0].instruction.opcode not in _KEPT | _RENUMBERED | {"transpose"}:
            return _counted(operand, numbers), operand
        read = next(iter(side.graph.operands(operand[0])), None)
        order = {} if read is None else _order(operand[0], read[0])
        if read is None or not all(number in order for kind in numbers for number in kind):
            return None
        numbers = [[order[number] for number in kind] for kind in numbers]
        operand = read
    return None


def _counted(operand: NodeElement, numbers: list[list[int]]) -> list[list[int]]:
    """Return which of the dimensions of more than one element those of some numbers are."""
    order = [*_long(operand[0].instruction.shape.dimensions)]
    if operand[1]:
        return numbers
    return [[order.index(number) for number in kind if number in order] for kind in numbers]


def _order(node: Node, read: Node) -> dict[int, int]:
    """Return the number that each dimension of a move has in what it reads; none if not known.

    A reshape tells those of more than one element, if it gives these no others. So does a bitcast
    of those in the order of memory.
    """
    opcode, sizes = node.instruction.opcode, node.instruction.shape.dimensions
    if opcode in _KEPT:
        return {number: number for number in range(len(sizes))}
    if opcode == "transpose":
        return dict(enumerate(dimension_numbers(node.instruction)))
    ordered = _ORDERED.get(opcode)
    if ordered is None:
        return {}
    ours, theirs = ordered(node), ordered(read)
    equal = [*ours.values()] == [*theirs.values()]
    return dict(zip(ours, theirs, strict=True)) if equal else {}


def _in_logical_order(node: Node) -> dict[int, int | None]:
    return _long(node.instruction.shape.dimensions)


def _in_memory_order(node: Node) -> dict[int, int | None]:
    """Return the dimensions of more than one element as they are in memory, the outermost first."""
    long = _long(node.instruction.shape.dimensions)
    order = node.instruction.shape.layout.partition(":")[0].split(",")
    numbers = [int(number) for number in reversed(order) if number.isdecimal()]
    return {number: long[number] for number in (numbers or long) if number in long}


_ORDERED = {"bitcast": _in_memory_order, "reshape": _in_logical_order}


def _long(sizes: Sequence[int | None]) -> dict[int, int | None]:
    """Return the sizes of dimensions of more than one element, by their numbers."""
    return {number: size for number, size in enumerate(sizes) if size != 1}
