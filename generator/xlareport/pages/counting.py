"""What an optimised module costs by our count and took by a profiler's, for all of its pages."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xlareport.analysis.clock.measured import Measured, least_times, measured
from xlareport.analysis.clock.times import NO_TIMES, ModuleTimes, OpTime
from xlareport.analysis.cost.roofline import least_seconds
from xlareport.analysis.cost.shares import InstructionShares, shares
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.reckoning import Reckoning, device_of
from xlareport.analysis.summary import ModuleSummary
from xlareport.pages.timeline_payload import timeline_payload
from xlareport.pictures.shade import Known
from xlareport.program import Module


@dataclass(frozen=True, slots=True)
class Counted:
    """What the optimised module costs, how its least time is shared out, and what was measured."""

    cost: ModuleCost | None
    shares: InstructionShares
    seconds: float | None
    """The least time of one run."""
    times: ModuleTimes | None
    """What a profiler saw of the modules of its name."""

    @property
    def instructions(self) -> Mapping[str, OpTime]:
        """Return what was measured of each instruction, by its name."""
        return self.times.instructions if self.times else NO_TIMES

    @property
    def known(self) -> Known:
        """Return what pictures can be coloured by."""
        parts = {name: part for (_, name), part in self.shares.items()}
        return Known(parts, self.times.shares if self.times else {})


def count(
    module: Module,
    summary: ModuleSummary,
    cost: ModuleCost | None,
    reckoning: Reckoning,
    times: ModuleTimes | None,
) -> Counted:
    """Share the least time of a module out among its instructions."""
    device, _ = device_of(module.device_words, summary.origin.backend, reckoning)
    seconds = least_seconds(cost, device) if cost else None
    return Counted(cost, shares(cost, device) if cost else {}, seconds, times)


def clock(module: Module, counted: Counted) -> Measured | None:
    """Join what a profiler saw; None where it saw nothing of a module of this name."""
    if counted.times is None or module.final is None:
        return None
    least = least_times(counted.shares, counted.seconds)
    found = measured(counted.times, module.final.hlo, least)
    return found if found.joined else None


def timelines(module: Module, counted: Counted) -> Iterator[tuple[str, str]]:
    """Yield the payload of the runs that are drawn, where a profiler saw some."""
    if counted.times is not None and module.final is not None:
        yield from timeline_payload(module.files.slug, module.final.hlo, counted.times)
