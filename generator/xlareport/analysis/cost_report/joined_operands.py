"""Arrays that hold the operands of a collective one after another, for the memory report."""

from collections.abc import Mapping

from msgspec import Struct

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES

_RENAMES = frozenset({"bitcast", "parameter"})


class JoinedOperand(Struct, frozen=True):
    """The operand of a collective that is several arrays in a row."""

    collective: str
    kind: str
    """`all-reduce`, without `-start`."""
    arrays: int


def find_joined_operands(module: HloModule) -> Mapping[str, JoinedOperand]:
    """Return the concatenates that only a collective reads, by name."""
    joined: dict[str, JoinedOperand] = {}
    for computation in module.computations:
        for instruction in computation.instructions:
            users = computation.users.get(instruction.name, ())
            kind = users[0].opcode.removesuffix("-start") if len(users) == 1 else ""
            if kind in COMBINED_COLLECTIVES and _concatenates(module, computation, instruction):
                count = len(instruction.operands)
                joined[instruction.name] = JoinedOperand(users[0].name, kind, count)
    return joined


def _concatenates(module: HloModule, computation: Computation, instruction: Instruction) -> bool:
    """Return whether an instruction, or a fusion of nothing else, puts arrays in a row."""
    if instruction.opcode == "concatenate":
        return len(instruction.operands) > 1
    body = module.by_name.get(instruction.called[0][1]) if instruction.called else None
    if instruction.opcode != "fusion" or body is None or computation is body:
        return False
    opcodes = [line.opcode for line in body.instructions if line.opcode not in _RENAMES]
    return opcodes == ["concatenate"] and len(instruction.operands) > 1
