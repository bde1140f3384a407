"""The profile of a module, joined to its final snapshot and to the steps that made the slowest."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.cost.roofline import estimate_shares
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.profile.instruction_times import ModuleTimes
from xlareport.analysis.profile.measured import (
    Measured,
    MeasuredRow,
    estimate_least_times,
    find_cut,
    join_profile,
)
from xlareport.analysis.steps.boundaries import Boundary
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


def measure_module(
    costed: CostedModule,
    times: ModuleTimes,
    snapshots: SnapshotSequence | None,
    boundaries: Sequence[Boundary],
) -> Measured | None:
    """Join the profile to the final snapshot; None where it has no instruction of the module."""
    least = estimate_least_times(
        estimate_shares(costed.cost, costed.device), costed.roofline_seconds
    )
    joined = join_profile(times, costed.hlo, least)
    if not joined.joined:
        return None
    executions = {key: count.executions for key, count in costed.cost.instructions.items()}
    work = dict(_work(joined, costed.cost))
    joined = replace(joined, work=work, cut=find_cut(joined, executions))
    return _with_makers(joined, costed.module, snapshots, boundaries) if snapshots else joined


def _work(
    profile: Measured, cost: ModuleCost
) -> Iterator[tuple[str, tuple[int | None, int | None]]]:
    """Yield FLOPs and bytes of each measured instruction in one run of the module."""
    for row in profile.rows:
        count = cost.instructions.get((row.computation, row.time.name))
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
