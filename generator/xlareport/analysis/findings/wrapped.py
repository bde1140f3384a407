"""Operations that a compiler wrapped into a fusion of their own: `wrapped_add` is an `add`."""

from xlareport.hlo.graph import fused_opcodes
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_GIVEN = frozenset({"parameter", "bitcast"})
_HANDING_ON = REARRANGEMENTS | {"convert", "copy-done", "copy-start", "get-tuple-element"}
"""Opcodes whose result is the operand in another place, layout or type."""


def unwrap_operation(module: HloModule, instruction: Instruction) -> Instruction:
    """Return what an instruction does: of a fusion around a single operation, that operation."""
    if instruction.opcode != "fusion" or len(instruction.called) != 1:
        return instruction
    inside = module.callee(instruction)
    if inside is None or len(inside.instructions) > 1 + 2 * len(instruction.operands) + 1:
        return instruction
    work = [inner for inner in inside.instructions if inner.opcode not in _GIVEN]
    return work[0] if len(work) == 1 else instruction


def hands_on(module: HloModule, instruction: Instruction) -> bool:
    """Return whether a result is the operand alone, in another place, layout or type."""
    if instruction.opcode != "fusion":
        return instruction.opcode in _HANDING_ON
    opcodes = fused_opcodes(module, instruction)
    return len(instruction.operands) == 1 and opcodes <= _HANDING_ON | {"parameter"}
