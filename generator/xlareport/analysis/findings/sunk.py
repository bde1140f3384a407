"""Work that a pass moved into the body of a loop.

Later passes rename instructions: the opcode, the dimensions and the op_name stay.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xlareport.hlo.model import HloModule, Instruction
from xlareport.snapshots import ParsedSnapshot, PassStep, list_pass_steps

WorkKey: TypeAlias = tuple[str, tuple[int | None, ...], str]
_SINKING = frozenset({"while-loop-fusible-sinking", "while-loop-constant-sinking"})


def key_of_work(line: Instruction) -> WorkKey:
    """Return the opcode, the dimensions and the op_name of an instruction."""
    return line.opcode, line.shape.dimensions, line.metadata.op_name


def find_sunk(snapshots: Sequence[ParsedSnapshot]) -> Mapping[WorkKey, PassStep]:
    """Return the work with an op_name that is in the body of a loop since a step that sinks it."""
    sunk: dict[WorkKey, PassStep] = {}
    for step, before, after in list_pass_steps(snapshots):
        if step.name in _SINKING:
            sunk |= dict.fromkeys(_work_in_loops(after) - _work_in_loops(before), step)
    return sunk


def _work_in_loops(module: HloModule) -> set[WorkKey]:
    bodies = {dict(line.called).get("body") for line in module.instructions}
    return {
        key_of_work(line)
        for place, line in module.placed
        if place.name in bodies and line.metadata.op_name
    }
