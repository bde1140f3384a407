"""The framework op of each member of a combined collective."""

from collections.abc import Sequence

from xlareport.analysis.source.locations import op_name_of
from xlareport.analysis.source.scopes import split_merged
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES


def is_combined(instruction: Instruction) -> bool:
    """Return whether an instruction is a collective of several operands, as combiners make them."""
    kind = instruction.opcode.removesuffix("-start")
    return kind in COMBINED_COLLECTIVES and len(instruction.operand_names) > 1


def member_op_names(
    module: HloModule, computation: Computation, instruction: Instruction
) -> tuple[str, ...]:
    """Return the op_name of each member, in the order of operands; empty where it is not known.

    GPU and CPU combiners list the op_names of all members. On TPUs a combined collective has that
    of its first member, and its elements have their own. Else a member is of its operand's op.
    """
    if not is_combined(instruction):
        return ()
    operands = computation.operands(instruction)
    given = [op_name_of(operand, module) if operand else "" for operand in operands]
    listed = listed_op_names(instruction, given)
    if listed:
        return listed
    elements = element_op_names(module, computation, instruction)
    op_name = instruction.metadata.op_name
    if any(name != op_name for name in elements.values()):
        return tuple(elements.get(at, name or op_name) for at, name in enumerate(given))
    return tuple(name or (op_name if at == 0 else "") for at, name in enumerate(given))


def listed_op_names(instruction: Instruction, given: Sequence[str]) -> tuple[str, ...]:
    """Return the op_names that a combined collective lists, if it has one for each member.

    If its operands have these op_names, their order is that of the operands.
    """
    listed = split_merged(instruction.metadata.op_name)
    if len(listed) < 2 or len(listed) != len(given):
        return ()
    return tuple(given) if set(given) == set(listed) else listed


def element_op_names(
    module: HloModule, computation: Computation, instruction: Instruction
) -> dict[int, str]:
    """Return the op_names that the elements of a collective's result have, by their indexes."""
    elements = elements_of(computation, instruction)
    names = {number: op_name_of(element, module) for number, element in elements.items()}
    return {number: name for number, name in names.items() if name}


def elements_of(computation: Computation, instruction: Instruction) -> dict[int, Instruction]:
    """Return the elements of the result of a collective, or of its done, by their indexes."""
    users = computation.users.get(instruction.name, ())
    if instruction.opcode.endswith("-start"):
        dones = (user.name for user in users if user.opcode.endswith("-done"))
        users = computation.users.get(next(dones, ""), ())
    return {
        number: user
        for user in users
        if user.opcode == "get-tuple-element" and (number := user.taken_element) is not None
    }
