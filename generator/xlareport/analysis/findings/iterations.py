"""How much of what runs often runs in each iteration of a loop: a token, or a training step."""

from collections.abc import Mapping

from xlareport.analysis.findings.finding import Case
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import Instruction
from xlareport.runtime import units

_LEAST_PART = 0.5
"""Of all: less is not named."""


def describe_iterations(case: Case, counts: Mapping[str, int], latency: float) -> str:
    """Return a sentence on one iteration of the outermost loop that runs most of what is counted.

    `counts` are executions by computation; each has this latency in seconds. Empty if most of them
    are in no loop. A loop of unknown trip count is counted once.
    """
    entry, whole = case.module.entry, sum(counts.values())
    loops = [line for line in entry.instructions if line.opcode == "while"] if entry else []
    sums = {line.name: _count_inside(case, line, counts) for line in loops}
    name = max(sums, key=lambda loop: sums[loop], default="")
    if entry is None or not name or sums[name] < _LEAST_PART * whole:
        return ""
    trips = case.cost.trip_counts.get((entry.name, name))
    times = trips.count if trips and trips.count else 1
    number = sums[name] // times
    if not number:
        return ""
    which = f"Each of the {times:,} iterations" if times > 1 else "An iteration"
    return f" {which} of `{name}` has {number:,} of them: {units.seconds(number * latency)}."


def _count_inside(case: Case, loop: Instruction, counts: Mapping[str, int]) -> int:
    inside = called_computations(case.module, (loop,))
    return sum(count for name, count in counts.items() if name in inside)
