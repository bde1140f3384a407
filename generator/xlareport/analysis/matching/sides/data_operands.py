"""Which operands hold the elements of a result; the others are indices, predicates and the like."""

from collections.abc import Collection

from xlareport.hlo.model import Instruction

_CLOSED = frozenset({"call", "conditional", "custom-call", "fusion", "while"})
"""Opcodes of which only a callee says what becomes of an operand."""
_PLACES = {
    "dynamic-reshape": (0,),
    "dynamic-slice": (0,),
    "dynamic-update-slice": (0, 1),
    "gather": (0,),
    "pad": (0,),
    "select": (1, 2),
    "select-and-scatter": (1,),
    "set-dimension-size": (0,),
}
"""Where opcodes with operands of fixed meaning read data."""
_REDUCTIONS = frozenset({"reduce", "reduce-window"})


def is_data(line: Instruction, position: int) -> bool:
    """Return whether the elements of an operand, or values made of them, are those of the result.

    Not so of start indices, predicates, initial values and padding, nor of one argument of several.
    """
    return position in _operand_positions(line)


def _operand_positions(line: Instruction) -> Collection[int]:
    count = len(line.operands)
    if line.opcode in _REDUCTIONS:
        return range(count // 2)
    if line.opcode == "scatter":
        return [place for place in range(count) if place != count // 2]
    if line.opcode in _CLOSED:
        return range(count if count == 1 else 0)
    return _PLACES.get(line.opcode, range(count))
