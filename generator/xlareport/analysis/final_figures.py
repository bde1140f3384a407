"""The figures of each instruction of the final snapshot: share of the time, measured times."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.cost.options import CostOptions, choose_device
from xlareport.analysis.cost.roofline import InstructionShares, estimate_shares, estimate_total_time
from xlareport.analysis.cost.time_basis import choose_basis
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.profile.measured import (
    Measured,
    MeasuredRow,
    estimate_least_times,
    find_cut,
    join_profile,
)
from xlareport.analysis.profile.times import NO_TIMES, ModuleTimes, OpTime
from xlareport.analysis.steps.boundaries import Boundary
from xlareport.hlo.model import InstructionKey
from xlareport.knowledge.grades import Grade
from xlareport.program import ParsedModule
from xlareport.runtime.english import plain

_MOST_MAKERS = 50
"""Limit on instructions whose origin is searched."""
_MAKING = frozenset(
    {
        *(Event.ADDED, Event.CLONED, Event.CREATED, Event.EXPANDED, Event.MERGED),
        Event.UNTRACED,
        *(Event.REBUILT, Event.REPLACED),
    }
)
_INPUT = "came with the program"


class FinalFigures(Struct, frozen=True):
    """The figures of the instructions of the final snapshot."""

    cost: ModuleCost | None = None
    shares: InstructionShares = field(default_factory=dict)
    """Shares of the estimated time, 0 to 1."""
    seconds: float | None = None
    """The estimated time of one run of the module."""
    least: Mapping[InstructionKey, float] = field(default_factory=dict)
    """The roofline time of each instruction in one run of the module."""
    times: ModuleTimes | None = None
    """The profile of the modules with its name."""

    @property
    def counted_shares(self) -> InstructionShares:
        """Return the shares of instructions whose work is known at least in part."""
        counted = self.cost.instructions if self.cost else {}
        return {
            place: share
            for place, share in self.shares.items()
            if counted[place].flops is not None or counted[place].main_memory_bytes is not None
        }

    @property
    def instructions(self) -> Mapping[str, OpTime]:
        """Return the measured times of instructions by name."""
        return self.times.instructions if self.times else NO_TIMES


def final_figures(
    module: ParsedModule,
    backend: str | None,
    cost: ModuleCost | None,
    cost_options: CostOptions,
    times: ModuleTimes | None,
) -> FinalFigures:
    """Divide the estimated time of a module among its instructions."""
    if cost is None:
        return FinalFigures(times=times)
    device, _ = choose_device(module.device_words, backend, cost_options)
    basis = choose_basis(cost, device)
    shares, whole = estimate_shares(cost, device), estimate_total_time(cost, device)
    least = estimate_least_times(shares, whole)
    return FinalFigures(cost, basis.shares(cost), basis.total(cost), least, times)


def measure_module(
    module: ParsedModule,
    figures: FinalFigures,
    snapshots: SnapshotSequence | None,
    boundaries: Sequence[Boundary],
) -> Measured | None:
    """Join the profile to the final snapshot; None where it has no instruction of the module."""
    if figures.times is None or module.final is None:
        return None
    joined = join_profile(figures.times, module.final.hlo, figures.least)
    if not joined.joined:
        return None
    counts = figures.cost.instructions if figures.cost else {}
    executions = {key: count.executions for key, count in counts.items()}
    work = dict(_work(joined, figures.cost))
    joined = replace(joined, work=work, cut=find_cut(joined, executions))
    return _with_makers(joined, module, snapshots, boundaries) if snapshots else joined


def _work(
    profile: Measured, cost: ModuleCost | None
) -> Iterator[tuple[str, tuple[int | None, int | None]]]:
    """Yield FLOPs and bytes of each measured instruction in one run of the module."""
    for row in profile.rows:
        count = cost.instructions.get((row.computation, row.time.name)) if cost else None
        if count is not None:
            flops = count.of_all_runs(count.flops)
            yield row.time.name, (flops, count.of_all_runs(count.bytes_accessed))


def _with_makers(
    profile: Measured,
    module: ParsedModule,
    snapshots: SnapshotSequence,
    boundaries: Sequence[Boundary],
) -> Measured:
    """Add the step that made each of the slowest instructions."""
    passes = {boundary.number: _pass_of(boundary) for boundary in boundaries}
    makers: dict[str, tuple[str | None, str]] = {}
    for maker in find_creations(snapshots, profile.rows):
        grade = "" if maker.grade is Grade.EXACT else f" ({maker.grade})"
        key = module.snapshots[maker.number].stage.key if maker.number else None
        makers[maker.instruction] = key, f"{passes.get(maker.number, _INPUT)}{grade}"
    return replace(profile, introduced=makers)


def _pass_of(boundary: Boundary) -> str:
    """Return the pass of a step, as far as that is certain."""
    if boundary.ran is None:
        return plain(boundary.actor)
    return boundary.ran if boundary.certain else f"{boundary.ran}, or a pass before it"


class Creation(Struct, frozen=True):
    """How an instruction came to be."""

    instruction: str
    number: int
    """The index of the first snapshot that contains it; 0 if it is part of the input."""
    grade: Grade


def find_creations(snapshots: SnapshotSequence, rows: Sequence[MeasuredRow]) -> Iterator[Creation]:
    """Yield how each of the first rows came to be, where its history is known."""
    last = len(snapshots.modules) - 1
    for row in rows[:_MOST_MAKERS]:
        events = history(snapshots, last, Place(row.computation, row.instruction.name))
        making = [event for event in events if event.event in _MAKING]
        if making:
            yield Creation(row.instruction.name, making[-1].number, making[-1].confidence)
        elif events:
            yield Creation(row.instruction.name, 0, Grade.EXACT)
