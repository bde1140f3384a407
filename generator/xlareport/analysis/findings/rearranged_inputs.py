"""Input converted or rearranged in each execution.

An instruction of the entry computation, or a fusion, reads only inputs, and concatenates, pads or
converts them. Examples are weights that are joined for one matmul, or converted from int8. It takes
3% or more of the roofline time. Inputs that the program may update are omitted, because a training
step must convert them every time: donated inputs, and those with the shape of an output.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.findings.arguments import copy_path
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.graph import fused_opcodes
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import MOVES, NO_CODE
from xlareport.runtime import units

LEAST_SHARE = 0.03
"""Of the module's roofline time."""
_LEAST_BYTES = 1 << 20
"""Of an input: smaller ones, such as scales, are not named."""
_CHANGING = frozenset({"concatenate", "convert", "pad"})
_ELEMENTWISE = frozenset({"add", "multiply", "subtract"})
"""They scale quantized values."""


def rearranged_inputs(case: Case) -> Iterator[Finding]:
    """Report conversions and copies of inputs that every execution repeats."""
    entry = case.module.entry
    if entry is None:
        return
    updated = _updated(case, entry)
    for computation, instruction, cost in case.scheduled:
        seconds = case.least(cost)
        if computation is not entry or not case.is_noticeable(seconds, LEAST_SHARE):
            continue
        inputs = _inputs(entry, instruction)
        if not inputs or any(given.name in updated for given in inputs):
            continue
        if _prepares(case, instruction):
            yield _finding(case, entry, instruction, inputs, seconds)


def _finding(
    case: Case,
    entry: Computation,
    instruction: Instruction,
    inputs: list[Instruction],
    seconds: float,
) -> Finding:
    large = [given for given in inputs if (given.shape.byte_size or 0) >= _LEAST_BYTES]
    names = join_names(given.metadata.op_name or given.name for given in large or inputs)
    return Finding(
        title="Input converted or rearranged in each execution",
        places=((entry.name, instruction.name), *((entry.name, given.name) for given in large)),
        occurrences=1,
        evidence=(
            f"`{instruction.name}` reads only inputs ({names}) and writes "
            f"{units.byte_size(instruction.shape.byte_size or 0)}: "
            f"{case.share_words(seconds)}."
        ),
        suggestion=(
            "If the input is the same in many executions, as weights are, pass it in the form "
            "that is read: joined, converted or padded once before."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _updated(case: Case, entry: Computation) -> set[str]:
    """Return the names of inputs that an output may replace."""
    donations = find_donations(case.module)
    numbers = {
        *(alias.parameter for alias in donations.aliases),
        *(number for number, _ in donations.donors),
        *(number for number, _ in donations.candidates),
    }
    return {
        parameter.name for number, parameter in enumerate(entry.parameters) if number in numbers
    }


def _inputs(entry: Computation, instruction: Instruction) -> list[Instruction]:
    """Return the inputs that an instruction reads; empty if it reads anything else."""
    paths = [copy_path(entry, operand, ("bitcast",)) for operand in entry.operands(instruction)]
    if not all(path and path[-1].opcode in ("constant", "parameter") for path in paths):
        return []
    return [path[-1] for path in paths if path[-1].opcode == "parameter"]


def _prepares(case: Case, instruction: Instruction) -> bool:
    """Return whether an instruction only converts, joins, pads and moves."""
    opcodes = fused_opcodes(case.module, instruction) or {instruction.opcode}
    return bool(opcodes & _CHANGING) and opcodes <= MOVES | NO_CODE | _CHANGING | _ELEMENTWISE
