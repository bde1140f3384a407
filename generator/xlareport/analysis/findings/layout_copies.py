"""Layout-only copy.

A copy, a transpose, or a fusion of only these is not fused and takes 2% or more of the roofline
time. Producer and consumer need different layouts.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.sizes import UncountableError
from xlareport.analysis.cost.tiling import minor_to_major
from xlareport.analysis.findings.finding import Case, Finding, describe_executions
from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time."""
_MOVING = frozenset({"copy", "transpose", "bitcast", "reshape", "parameter"})


def layout_copies(case: Case) -> Iterator[Finding]:
    """Report copies and transposes that run by themselves and take a noticeable part."""
    for computation, instruction, cost in case.scheduled():
        seconds = case.least(cost)
        if case.is_noticeable(seconds, LEAST_SHARE) and _only_moves(case, computation, instruction):
            yield Finding(
                rule="layout-copies",
                title="Layout-only copy",
                places=((computation.name, instruction.name),),
                evidence=(
                    f"`{instruction.name}` accesses {units.byte_size(cost.bytes_accessed or 0)}"
                    f"{describe_executions(cost.counted)} to change the layout: "
                    f"{units.share(case.share(seconds))} of the module's roofline time."
                ),
                suggestion=(
                    "Use the same dimension order in producer and consumer: transpose the data "
                    "once outside, or write the contraction without a transpose."
                ),
                grade="matched",
                weight=seconds,
                seconds=seconds,
            )


def _only_moves(case: Case, computation: Computation, instruction: Instruction) -> bool:
    if instruction.opcode in ("copy", "transpose"):
        return _changes_order(computation, instruction)
    if instruction.opcode != "fusion":
        return False
    inside = [
        inner.opcode
        for _, name in instruction.called
        for inner in getattr(case.module.by_name.get(name), "instructions", ())
    ]
    moves = "copy" in inside or "transpose" in inside
    return moves and _MOVING.issuperset(inside)


def _changes_order(computation: Computation, instruction: Instruction) -> bool:
    try:
        source = Site(instruction, shapes_of(computation)).operand(0)
    except UncountableError:
        return False
    return instruction.opcode == "transpose" or minor_to_major(source) != minor_to_major(
        instruction.shape
    )
