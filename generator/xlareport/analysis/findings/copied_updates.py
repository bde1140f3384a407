"""dynamic-update-slice not in place.

A copy takes 2% or more of the roofline time, and its only use is a `dynamic-update-slice` of at
most half of it. The buffer has another use after the update, or it is an argument that was not
donated.
"""

from collections.abc import Iterator

from xlareport.analysis.findings.finding import Case, Finding, describe_executions
from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time."""


def copied_updates(case: Case) -> Iterator[Finding]:
    """Report copies whose only use is to be updated in place, where they take noticeable time."""
    for computation, instruction, cost in case.scheduled:
        if instruction.opcode != "copy" or not instruction.shape.dimensions:
            continue
        users = computation.users.get(instruction.name, ())
        seconds = case.least(cost)
        if len(users) != 1 or not case.is_noticeable(seconds, LEAST_SHARE):
            continue
        update = _update(case, computation, instruction, users[0])
        if update and update * 2 <= (instruction.shape.byte_size or 0):
            yield Finding(
                title="dynamic-update-slice not in place",
                places=(
                    (computation.name, instruction.name),
                    (computation.name, users[0].name),
                ),
                evidence=(
                    f"`{users[0].name}` writes {units.byte_size(update)} into a copy of "
                    f"{units.byte_size(instruction.shape.byte_size or 0)} "
                    f"(`{instruction.name}`){describe_executions(cost.counted)}: "
                    f"{case.share_words(seconds)}."
                ),
                occurrences=1,
                suggestion=(
                    "Let the buffer have no other use after the update: donate it if it is an "
                    "argument, or read the old value before it is overwritten."
                ),
                grade="exact",
                weight=seconds,
                seconds=seconds,
            )


def _update(case: Case, computation: Computation, copy: Instruction, user: Instruction) -> int:
    """Return the bytes that are written into a copy; 0 where its user does not update it."""
    if user.opcode == "dynamic-update-slice":
        return _update_bytes(computation, user) if user.operand_names[:1] == (copy.name,) else 0
    inside = case.module.callee(user) if user.opcode == "fusion" else None
    root = inside.root if inside else None
    if inside is None or root is None or root.opcode != "dynamic-update-slice":
        return 0
    place = user.operand_names.index(copy.name)
    parameters = inside.parameters
    is_buffer = place < len(parameters) and root.operand_names[0] == parameters[place].name
    return _update_bytes(inside, root) if is_buffer else 0


def _update_bytes(computation: Computation, update: Instruction) -> int:
    operand = computation.operand(update, 1)
    return (operand.shape.byte_size or 0) if operand else 0
