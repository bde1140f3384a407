"""Layout-only copy.

A copy, a transpose, or a fusion of only these and slices is not fused and takes 2% or more of the
roofline time. Producer and consumer need different layouts. Smaller ones are one finding if they
take as much together; those that slice as well are counted apart, since a slice may be needed in
any layout. Copies that keep the order of the elements in memory are not reported: a
dimension of one element may be anywhere in a layout. A copy whose cause another rule reports is not
reported again.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from xlareport.analysis.findings.copied_carries import copied_carries
from xlareport.analysis.findings.copied_state import copied_state
from xlareport.analysis.findings.copied_updates import copied_updates
from xlareport.analysis.findings.expanded import name_expanded
from xlareport.analysis.findings.finding import Case, Finding, Rule, describe_executions
from xlareport.analysis.findings.memory_order import changes_order
from xlareport.analysis.findings.rearranged_inputs import rearranged_inputs
from xlareport.analysis.findings.sliced_operands import sliced_operands
from xlareport.hlo.graph import fused_opcodes
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
_SLICING = frozenset({"dynamic-slice", "slice"})
_MOVING = REARRANGEMENTS | _SLICING | {"parameter"}
_Small: TypeAlias = tuple[float, float, InstructionKey]
"""Seconds and bytes of all executions, and the place."""
_COPY, _COPIES = "Layout-only copy", "Layout-only copies, small ones together"
_SLICED, _SLICES = "Slice into another layout", "Layout copies and slices, small ones together"


def layout_copies(case: Case) -> Iterator[Finding]:
    """Report copies and transposes that run by themselves and take a noticeable part."""
    small: list[_Small] = []
    reported = case.places_of(_OF_COPIES)
    for computation, instruction, cost in case.scheduled:
        seconds = case.least(cost)
        is_reported = (computation.name, instruction.name) in reported
        if not seconds or is_reported or not _only_moves(case, computation, instruction):
            continue
        if not case.is_noticeable(seconds, LEAST_SHARE):
            moved = (cost.bytes_accessed or 0) * cost.counted
            small.append((seconds, moved, (computation.name, instruction.name)))
        else:
            yield Finding(
                title=_SLICED if _slices(case, (computation.name, instruction.name)) else _COPY,
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


def _together(case: Case, small: Sequence[_Small]) -> Finding:
    """Return one finding on copies of which none alone is noticeable."""
    seconds = sum(time for time, _, _ in small)
    gathered = sum(time for time, _, place in small if _is_at_gather(case, place))
    sliced = [item for item in small if _slices(case, item[2])]
    return Finding(
        title=_SLICES if sliced else _COPIES,
        places=tuple(place for _, _, place in small),
        evidence=(
            f"{_moves(small, sliced)}: {case.time_words(seconds)}. The longest is "
            f"`{small[0][2][1]}`, {case.time_or_share(small[0][0])}."
        ),
        suggestion=(
            "Use one dimension order in producers and consumers. An all-gather needs the gathered "
            "dimension major. If its reader needs it minor, XLA copies on both sides; shard "
            "another dimension to avoid that."
            if 2 * gathered >= seconds
            else "Use one dimension order in producers and consumers: pass the data in the order "
            "that is read, or write the contractions without a transpose."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _moves(small: Sequence[_Small], sliced: Sequence[_Small]) -> str:
    """Return what copies access, and apart from that what those access that slice as well."""
    moved, cut = (sum(size for _, size, _ in items) for items in (small, sliced))
    count = len(small) - len(sliced)
    copies = f"{count:,} copies and transposes access {units.byte_size(moved - cut)}"
    slices = units.plural(len(sliced), "slice")
    if not sliced:
        return f"{copies} to change layouts"
    if not count:
        return f"{slices} that change layouts too access {units.byte_size(cut)}"
    time = units.seconds(sum(seconds for seconds, _, _ in sliced))
    return (
        f"{copies} to change layouts, and {slices} that change layouts too access "
        f"{units.byte_size(cut)} ({time})"
    )


def _slices(case: Case, place: InstructionKey) -> bool:
    """Return whether a fusion takes a part of an array, which may be needed in any layout."""
    line = case.module.by_name[place[0]].by_name[place[1]]
    return not _SLICING.isdisjoint(fused_opcodes(case.module, line))


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
