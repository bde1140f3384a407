"""What an optimised module costs by our count and took by a profiler's, for all of its pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xlareport.analysis.cost.options import CostOptions, device_of
from xlareport.analysis.cost.roofline import least_seconds
from xlareport.analysis.cost.shares import InstructionShares, shares
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.slowest_instructions import makers
from xlareport.analysis.matching.pairing import Grade
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.profile.measured import Measured, least_times, measured
from xlareport.analysis.profile.times import NO_TIMES, ModuleTimes, OpTime
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.pages.profile.timeline import timeline_payload
from xlareport.pictures.shade import Known
from xlareport.program import ParsedModule
from xlareport.storage.payloads import Payload

_GIVEN = "came with the program"


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
    module: ParsedModule,
    summary: ModuleSummary,
    cost: ModuleCost | None,
    cost_options: CostOptions,
    times: ModuleTimes | None,
) -> Counted:
    """Share the least time of a module out among its instructions."""
    device, _ = device_of(module.device_words, summary.origin.backend, cost_options)
    seconds = least_seconds(cost, device) if cost else None
    return Counted(cost, shares(cost, device) if cost else {}, seconds, times)


def clock(module: ParsedModule, counted: Counted) -> Measured | None:
    """Join what a profiler saw; None where it saw nothing of a module of this name."""
    if counted.times is None or module.final is None:
        return None
    least = least_times(counted.shares, counted.seconds)
    found = measured(counted.times, module.final.hlo, least)
    return replace(found, work=dict(_work(found, counted.cost))) if found.joined else None


def _work(
    found: Measured, cost: ModuleCost | None
) -> Iterator[tuple[str, tuple[int | None, int | None]]]:
    """Yield flops and bytes of what was measured, in one run of the module."""
    for row in found.rows:
        one = cost.instructions.get((row.computation, row.time.name)) if cost else None
        if one is not None:
            yield row.time.name, (one.of_all_runs(one.flops), one.of_all_runs(one.bytes_accessed))


def with_makers(
    found: Measured,
    module: ParsedModule,
    snapshots: SnapshotSequence | None,
    steps: Sequence[Boundary],
) -> Measured:
    """Add which step made the slowest instructions; as it is where no step changed anything."""
    if snapshots is None:
        return found
    actors = {one.number: _maker(one) for one in steps}
    made: dict[str, tuple[str | None, str]] = {}
    for one in makers(snapshots, found.rows):
        grade = "" if one.grade is Grade.EXACT else f" ({one.grade})"
        key = module.snapshots[one.stage].stage.key if one.stage else None
        made[one.instruction] = key, f"{actors.get(one.stage, _GIVEN)}{grade}"
    return replace(found, made=made)


def _maker(step: Boundary) -> str:
    """Return the pass of a step, as far as that is certain."""
    if step.ran is None:
        return step.actor.replace("`", "")
    return step.ran if step.certain else f"{step.ran}, or a pass before it"


def timelines(module: ParsedModule, counted: Counted) -> Iterator[Payload]:
    """Yield the payload of the runs that are drawn, where a profiler saw some."""
    if counted.times is not None and module.final is not None:
        yield from timeline_payload(module.files.slug, module.final.hlo, counted.times)
