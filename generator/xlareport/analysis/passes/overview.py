"""The whole compilation of a module at a glance: values that travel between processes."""

from collections.abc import Sequence
from dataclasses import dataclass

from xlareport.analysis.cost.work import Costs
from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.passes.busiest import Busy, rank_busiest
from xlareport.analysis.passes.growth import Growth, measure_growth
from xlareport.analysis.passes.idle import Idle, find_idle_passes
from xlareport.analysis.passes.oscillation import Again, find_oscillations
from xlareport.analysis.passes.times import (
    FileTimes,
    PassTime,
    StepTime,
    file_times,
    pass_times,
    pipelines_of,
    step_times,
)
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.analysis.steps.numbers_changed import NumbersChanged
from xlareport.program import ParsedModule


@dataclass(frozen=True, slots=True)
class Overview:
    """What the passes did to a module, taken together. Snapshots are those that were read."""

    growth: tuple[Growth, ...]
    """One for each snapshot."""
    numbers: tuple[tuple[int, NumbersChanged], ...]
    """By the index of the snapshot after the step."""
    busiest: tuple[Busy, ...]
    again: tuple[Again, ...]
    idle: Idle
    passes: tuple[PassTime, ...]
    """The longest first; empty where the compiler wrote no metadata."""
    pipelines: frozenset[str]
    """Those of the passes that hold others."""
    span: int | None
    """Microseconds from the first start to the last end of a pass."""
    file_times: FileTimes | None
    step_times: tuple[StepTime | None, ...]
    """One for each snapshot: the time since the one before."""


def summarize_passes(
    module: ParsedModule,
    between: Sequence[Boundary],
    numbers: Sequence[tuple[int, NumbersChanged]],
    steps: Sequence[StepSummary | None] = (),
    costs: Costs | None = None,
) -> Overview:
    """Look at all steps of a module; `between` has the boundary of each, `steps` what it did.

    `costs` has what was counted before.
    """
    modules = [snapshot.hlo for snapshot in module.snapshots]
    metadata = module.passes
    return Overview(
        growth=measure_growth(modules, costs or Costs()),
        numbers=tuple(numbers),
        busiest=rank_busiest(between, steps),
        again=find_oscillations(modules),
        idle=find_idle_passes([snapshot.stage for snapshot in module.snapshots], between, metadata),
        passes=pass_times(metadata) if metadata else (),
        pipelines=pipelines_of(metadata) if metadata else frozenset(),
        span=metadata.span if metadata else None,
        file_times=file_times(module.files),
        step_times=step_times([snapshot.stage for snapshot in module.snapshots], metadata),
    )
