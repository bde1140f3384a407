"""Copies around combined all-reduces.

XLA:GPU's pass all-reduce-contiguous gives a combined all-reduce a single operand: a concatenation
of all operands before it, and a slice for each result after it. It runs after fusion, so these
copies are kernels or memory copies of their own. Together they take 2% or more of the module's
roofline time. A concatenation with an op_name is the program's, and is not reported.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.collectives.remedies import combiner_option
from xlareport.analysis.findings.finding import Case, Finding, describe_executions, join_names
from xlareport.hlo.model import Instruction
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time."""
_ADDED_BY = "all-reduce-contiguous"
_SAME = frozenset({"bitcast", "parameter"})


class _Copied(Struct, frozen=True):
    """An all-reduce with the copies around it."""

    figures: CollectiveFigures
    concatenation: Instruction
    slices: tuple[Instruction, ...]
    executions: int
    """Of the copies."""
    seconds: float
    """Of all executions of the copies."""


def contiguous_copies(case: Case) -> Iterator[Finding]:
    """Report the copies of all combined all-reduces together."""
    if case.backend != "gpu":
        return
    copied = [
        around
        for figures in case.collectives
        if figures.collective.kind == "all-reduce" and (around := _copied(case, figures))
    ]
    copied.sort(key=lambda around: -around.seconds)
    seconds = sum(around.seconds for around in copied)
    if copied and case.is_noticeable(seconds, LEAST_SHARE):
        yield _finding(case, copied, seconds)


def _copied(case: Case, figures: CollectiveFigures) -> _Copied | None:
    """Return the copies around an all-reduce, None where a concatenation is not its operand."""
    collective = figures.collective
    home = case.module.by_name[collective.computation]
    start, end = home.by_name[collective.instruction], collective.done or collective.instruction
    operand, users = home.operand(start), home.users.get(end, ())
    slices = tuple(user for user in users if _only(case, user, "slice") is not None)
    concatenation = _only(case, operand, "concatenate") if operand is not None else None
    if operand is None or concatenation is None or not slices:
        return None
    is_flat = len(operand.shape.dimensions) == 1 and len(operand.operand_names) > 1
    if not is_flat or operand.metadata.op_name or concatenation.metadata.op_name:
        return None
    costs = [case.cost.instructions.get((home.name, line.name)) for line in (operand, *slices)]
    known = [cost for cost in costs if cost is not None]
    return _Copied(
        *(figures, operand, slices),
        executions=sum(cost.counted for cost in known),
        seconds=sum(case.least(cost) for cost in known),
    )


def _only(case: Case, instruction: Instruction, opcode: str) -> Instruction | None:
    """Return the instruction of this opcode that is all an instruction does; None for others."""
    if instruction.opcode == opcode:
        return instruction
    if instruction.opcode != "fusion":
        return None
    callees = case.module.callees(instruction)
    inside = [line for held in callees for line in held.instructions if line.opcode not in _SAME]
    return inside[0] if len(inside) == 1 and inside[0].opcode == opcode else None


def _finding(case: Case, copied: Sequence[_Copied], seconds: float) -> Finding:
    kernels = sum(around.executions for around in copied)
    names = units.plural(len(copied), "combined all-reduce")
    return Finding(
        title="Copies around combined all-reduces",
        places=tuple(
            (around.figures.collective.computation, line.name)
            for around in copied
            for line in (around.concatenation, *around.slices)
        ),
        evidence=(
            f"{units.plural(kernels, 'execution')} of concatenations before {names} and of slices "
            f"after {'it' if len(copied) == 1 else 'them'}: {case.time_words(seconds)}. "
            f"{_costliest(case, copied[0])} They are kernels or memory copies of their own, as "
            f"{_ADDED_BY} adds them after fusion."
        ),
        suggestion=(
            f"Compare with --xla_disable_hlo_passes={_ADDED_BY}: the all-reduce keeps its "
            f"operands, and nothing is copied. Or combine fewer by a lower "
            f"{combiner_option('gpu', 'all-reduce')}: a single operand is not copied, but each "
            "all-reduce has its own latency."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
        occurrences=len(copied),
    )


def _costliest(case: Case, around: _Copied) -> str:
    """Return a sentence on the copies around one all-reduce."""
    operands = units.plural(len(around.concatenation.operand_names), "operand")
    return (
        f"Around `{around.figures.collective.instruction}`, `{around.concatenation.name}` puts "
        f"{operands} into one array, and {join_names(line.name for line in around.slices)} cut "
        f"the results out of it{describe_executions(around.figures.counted)}: "
        f"{case.time_or_share(around.seconds)}."
    )
