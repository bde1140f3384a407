"""How often a module ran while a profiler watched, and how long."""

from dataclasses import dataclass

from xlareport.analysis.clock.times import ModuleTimes

_MICROSECOND = 1_000_000
"""Picoseconds."""


@dataclass(frozen=True, slots=True)
class ModuleRuns:
    """How often a module ran while a profiler watched."""

    count: int
    microseconds: float
    """From the first to the last operation of each run, summed."""
    shared: bool = False
    """Whether some of the runs may be those of another module of the name."""


def module_runs(times: ModuleTimes) -> ModuleRuns:
    """Count the runs; where they are not named, the instruction that came most often tells."""
    named = [one for one in times.runs if one.name]
    if len(named) == len(times.runs):
        return ModuleRuns(len(named), times.length / _MICROSECOND)
    most = max((one.count for one in times.instructions.values()), default=0)
    own = sum(one.own for one in times.instructions.values())
    return ModuleRuns(most, own / _MICROSECOND)
