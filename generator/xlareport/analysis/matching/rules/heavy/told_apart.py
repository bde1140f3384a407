"""What tells dots of the same values apart: the dimensions that they sum over, behind transposes.

`x * x'` and `x' * x` read the same values, and a pass that folds the transposes into both changes
the numbers of the dimensions, not which dimensions of `x` these are.
"""

import re

from xlareport.analysis.matching.search.nodes import dimension_numbers
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side

_KEPT = frozenset({"convert", "copy"})
_RENUMBERED = frozenset({"bitcast", "broadcast", "pad", "reshape"})
_LONGEST = 8
_SIDES = ("lhs", "rhs")

Summed = tuple[tuple[int, ...], tuple[int, ...]]
"""The contracting and the batch dimensions of an operand."""


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
        behind = _behind_transposes(side, operand, numbers)
        if behind is None:
            return None
        sums.append((tuple(sorted(behind[0])), tuple(sorted(behind[1]))))
    return tuple(sorted(sums))


def _numbers(dot: Node, name: str) -> list[int]:
    text = dot.instruction.attributes.get(name, "")
    return [int(number) for number in re.findall(r"\d{1,9}", text)]


def _behind_transposes(
    side: Side, operand: NodeElement, numbers: list[list[int]]
) -> list[list[int]] | None:
    """Return the numbers that dimensions have behind transposes; None where they are others."""
    for _ in range(_LONGEST):
        (node, path), opcode = operand, operand[0].instruction.opcode
        if path or opcode not in _KEPT | _RENUMBERED | {"transpose"}:
            return numbers
        if opcode in _RENUMBERED:
            return None
        if opcode == "transpose":
            order = dimension_numbers(node)
            if any(number >= len(order) for kind in numbers for number in kind):
                return None
            numbers = [[order[number] for number in kind] for kind in numbers]
        operand = side.graph.operands(node)[0]
    return None
