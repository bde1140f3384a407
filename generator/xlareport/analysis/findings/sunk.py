"""Work that a pass moved into the body of a loop.

Later passes rename instructions: the opcode, the dimensions and the op_name stay.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from xlareport.hlo.model import HloModule, Instruction
from xlareport.snapshots import ParsedSnapshot

WorkKey: TypeAlias = tuple[str, tuple[int | None, ...], str]
_SINKING = frozenset({"while-loop-fusible-sinking", "while-loop-constant-sinking"})


class SinkingStep(Struct, frozen=True):
    """A step of a pass that sinks work into loops."""

    name: str
    """Of the pass."""
    number: str


def key_of_work(line: Instruction) -> WorkKey:
    """Return the opcode, the dimensions and the op_name of an instruction."""
    return line.opcode, line.shape.dimensions, line.metadata.op_name


def find_sunk(snapshots: Sequence[ParsedSnapshot]) -> Mapping[WorkKey, SinkingStep]:
    """Return the work with an op_name that is in the body of a loop since a step that sinks it."""
    sunk: dict[WorkKey, SinkingStep] = {}
    for earlier, later in pairwise(snapshots):
        stage = later.stage
        if stage.name == "pass" and stage.after in _SINKING and stage.sequence is not None:
            step = SinkingStep(stage.after, f"{stage.sequence:04d}")
            new = _work_in_loops(later.hlo) - _work_in_loops(earlier.hlo)
            sunk |= dict.fromkeys(new, step)
    return sunk


def _work_in_loops(module: HloModule) -> set[WorkKey]:
    bodies = {dict(line.called).get("body") for line in module.instructions}
    return {
        key_of_work(line)
        for place, line in module.placed
        if place.name in bodies and line.metadata.op_name
    }
