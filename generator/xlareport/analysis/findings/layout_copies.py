"""Layout-only copy.

A copy, a transpose, or a fusion of only these is not fused and takes 2% or more of the roofline
time. Producer and consumer need different layouts. What keeps the order of the elements in memory
is not reported: dimensions of one element may stand anywhere in a layout.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.site import Site, parse_integers, shapes_of
from xlareport.analysis.cost.sizes import UncountableError
from xlareport.analysis.cost.tiling import minor_to_major
from xlareport.analysis.findings.expanded import name_expanded
from xlareport.analysis.findings.finding import Case, Finding, describe_executions
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import Shape
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time."""
_REORDERING = frozenset({"copy", "transpose"})
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
                suggestion=_advise(instruction),
                grade="matched",
                weight=seconds,
                seconds=seconds,
            )


def _advise(instruction: Instruction) -> str:
    operation = name_expanded(instruction)
    if operation:
        return f"The copy is the compiler's, which computes {operation} by other operations."
    return (
        "Use the same dimension order in producer and consumer: pass the data in the order that is "
        "read, or write the contraction without a transpose."
    )


def _only_moves(case: Case, computation: Computation, instruction: Instruction) -> bool:
    if instruction.opcode in _REORDERING:
        return _changes_order(computation, instruction)
    if instruction.opcode != "fusion":
        return False
    fused = [case.module.by_name.get(name) for _, name in instruction.called]
    inside = [(held, inner) for held in fused if held for inner in held.instructions]
    if not _MOVING.issuperset(inner.opcode for _, inner in inside):
        return False
    return any(
        inner.opcode in _REORDERING and _changes_order(held, inner) for held, inner in inside
    )


def _changes_order(computation: Computation, instruction: Instruction) -> bool:
    """Return whether elements lie in another order; dimensions of one element do not tell."""
    try:
        site = Site(instruction, shapes_of(computation))
        before = _order(site.operand(0))
        numbers = parse_integers(instruction.attributes.get("dimensions", ""))
    except UncountableError:
        return False
    after = _order(instruction.shape)
    if instruction.opcode == "transpose":
        return before != [numbers[number] for number in after if number < len(numbers)]
    return before != after


def _order(shape: Shape) -> list[int]:
    """Return the order of the dimensions in memory, in tiles with those of one element."""
    order = minor_to_major(shape)
    if "T(" in shape.layout:
        return order
    sizes = shape.dimensions
    return [number for number in order if number < len(sizes) and sizes[number] != 1]
