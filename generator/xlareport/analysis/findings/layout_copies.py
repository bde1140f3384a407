"""Layout-only copy.

A copy, a transpose, or a fusion of only these and slices is not fused and takes 2% or more of the
roofline time. Producer and consumer need different layouts. Smaller ones are one finding if they
take as much together. Copies that keep the order of the elements in memory are not reported: a
dimension of one element may be anywhere in a layout. A copy whose cause another rule reports is not
reported again.
"""

from collections.abc import Iterator, Sequence

from xlareport.analysis.findings.copied_carries import copied_carries
from xlareport.analysis.findings.copied_state import copied_state
from xlareport.analysis.findings.copied_updates import copied_updates
from xlareport.analysis.findings.expanded import name_expanded
from xlareport.analysis.findings.finding import Case, Finding, Rule, describe_executions
from xlareport.analysis.findings.memory_order import changes_order
from xlareport.analysis.findings.rearranged_inputs import rearranged_inputs
from xlareport.analysis.findings.sliced_operands import sliced_operands
from xlareport.hlo.model import Computation, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import ALIASES, REARRANGEMENTS
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable

LEAST_SHARE = 0.02
"""Of the module's roofline time."""
_OF_COPIES: tuple[Rule, ...] = (
    copied_updates,
    copied_state,
    copied_carries,
    rearranged_inputs,
    sliced_operands,
)
"""Rules on the cause of a copy: what they report is not reported again."""
_REORDERING = frozenset({"copy", "transpose"})
_MOVING = REARRANGEMENTS | {"dynamic-slice", "parameter", "slice"}


def layout_copies(case: Case) -> Iterator[Finding]:
    """Report copies and transposes that run by themselves and take a noticeable part."""
    small: list[tuple[float, float, InstructionKey]] = []
    reported = case.places_of(_OF_COPIES)
    for computation, instruction, cost in case.scheduled():
        seconds = case.least(cost)
        is_reported = (computation.name, instruction.name) in reported
        if not seconds or is_reported or not _only_moves(case, computation, instruction):
            continue
        if not case.is_noticeable(seconds, LEAST_SHARE):
            moved = (cost.bytes_accessed or 0) * cost.counted
            small.append((seconds, moved, (computation.name, instruction.name)))
        else:
            yield Finding(
                title="Layout-only copy",
                places=((computation.name, instruction.name),),
                evidence=(
                    f"`{instruction.name}` accesses {units.byte_size(cost.bytes_accessed or 0)}"
                    f"{describe_executions(cost.counted)} to change the layout: "
                    f"{case.share_words(seconds)}."
                ),
                suggestion=_advise(instruction),
                grade="matched",
                weight=seconds,
                seconds=seconds,
            )
    if len(small) > 1 and case.is_noticeable(sum(seconds for seconds, _, _ in small), LEAST_SHARE):
        yield _together(case, sorted(small, key=lambda item: (-item[0], item[2])))


def _together(case: Case, small: Sequence[tuple[float, float, InstructionKey]]) -> Finding:
    """Return one finding on copies of which none alone is noticeable."""
    seconds = sum(time for time, _, _ in small)
    moved = sum(size for _, size, _ in small)
    gathered = sum(time for time, _, place in small if _is_at_gather(case, place))
    return Finding(
        title="Layout-only copies, small ones together",
        places=tuple(place for _, _, place in small),
        evidence=(
            f"{len(small):,} copies and transposes access {units.byte_size(moved)} to change "
            f"layouts: {case.time_words(seconds)}. The longest is "
            f"`{small[0][2][1]}`, {case.time_or_share(small[0][0])}."
        ),
        suggestion=(
            "Use one dimension order in producers and consumers. An all-gather needs the gathered "
            "dimension major. If its reader needs it minor, XLA copies on both sides; shard "
            "another dimension to avoid that."
            if 2 * gathered >= seconds
            else "Use one dimension order in producers and consumers, as for single copies."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _is_at_gather(case: Case, place: InstructionKey) -> bool:
    """Return whether a copy is next to an all-gather, apart from what moves no data."""
    home = case.module.by_name[place[0]]
    copy = home.by_name[place[1]]

    def operands(line: Instruction) -> list[Instruction]:
        passed = [operand for operand in home.operands(line) if operand is not None]
        return passed if line is copy or line.opcode in ALIASES else []

    def users(line: Instruction) -> Sequence[Instruction]:
        return home.users.get(line.name, ()) if line is copy or line.opcode in ALIASES else ()

    near = (*reachable(operands(copy), operands), *reachable(users(copy), users))
    return any(line.opcode.startswith("all-gather") for line in near)


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
        return changes_order(computation, instruction)
    if instruction.opcode != "fusion":
        return False
    fused = case.module.callees(instruction)
    inside = [(held, inner) for held in fused for inner in held.instructions]
    arrays = (inner for _, inner in inside if inner.shape.dimensions)  # no indices of slices
    if not _MOVING.issuperset(inner.opcode for inner in arrays):
        return False
    return any(inner.opcode in _REORDERING and changes_order(held, inner) for held, inner in inside)
