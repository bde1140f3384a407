"""How often a module ran while a profiler watched, and how long."""

from collections import Counter
from dataclasses import dataclass

from xlareport.analysis.profile.times import ModuleTimes
from xlareport.hlo.model import HloModule

_MICROSECOND = 1_000_000
"""Picoseconds."""


@dataclass(frozen=True, slots=True)
class ModuleRuns:
    """How often a module ran while a profiler watched."""

    count: int | None
    """None where the profiler does not tell one run from another."""
    microseconds: float | None
    """From the first to the last operation of each run, summed; None where the trace is cut."""
    shared: bool = False
    """Whether some of the runs may be those of another module of the name."""


def find_runs(times: ModuleTimes) -> ModuleRuns:
    """Count the runs of a trace that is not cut; None where they are not named."""
    named = all(run.name for run in times.runs)
    return ModuleRuns(len(times.runs) if named else None, total_microseconds(times))


def total_microseconds(times: ModuleTimes) -> float:
    """Return the time of all runs; where they are not named, that of the instructions."""
    if all(run.name for run in times.runs):
        return times.length / _MICROSECOND
    return sum(instruction.own for instruction in times.instructions.values()) / _MICROSECOND


def count_executions(times: ModuleTimes, module: HloModule) -> int | None:
    """Return how often most instructions of the entry ran; None where none of them was seen."""
    names = [instruction.name for instruction in module.entry.instructions] if module.entry else []
    seen = (times.instructions.get(name) for name in names)
    counts = Counter(op_time.count for op_time in seen if op_time)
    return counts.most_common(1)[0][0] if counts else None
