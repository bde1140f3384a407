"""The work on two profiles of one module of a comparison, in one process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xlareport.analysis.compare.time_changes import (
    ScopeChange,
    TimeChange,
    Timed,
    compare_times,
    scope_changes,
)
from xlareport.analysis.profile.times import ModuleTimes
from xlareport.dump.modules import ModuleFiles
from xlareport.pages.compare.first_page import RUN
from xlareport.pages.compare.views import (
    ComparedTimesView,
    ComparedView,
    QuantityView,
    ScopeTimeView,
    TimeChangeView,
)
from xlareport.program import read_module
from xlareport.runtime.faults import guard

MOST = 2_000
"""Instructions of one module that are told; of more, those in between are left out."""
_MICROSECONDS = 1e6
"""In a second."""


@dataclass(frozen=True, slots=True)
class TimingTask:
    """Two modules with what profilers saw of modules of their names."""

    base: ModuleFiles
    head: ModuleFiles
    base_times: ModuleTimes
    head_times: ModuleTimes


@dataclass(frozen=True, slots=True)
class Timing:
    """What came of it."""

    view: ComparedTimesView | None = None
    joined: tuple[int, int] = (0, 0)
    """Events of instructions that base and head have."""
    problem: str = ""


def timing(task: TimingTask) -> Timing:
    """Join both profiles; a fault costs this pair and no other."""
    return guard(lambda: _timing(task), lambda reason: untimed(task, reason))


def untimed(task: TimingTask, reason: str) -> Timing:
    """Return what stands for a pair whose times could not be compared."""
    return Timing(problem=f"The times of {task.head.key} could not be compared: {reason}.")


def _timing(task: TimingTask) -> Timing:
    ours, theirs = read_module(task.base).final, read_module(task.head).final
    if ours is None or theirs is None:
        return Timing()
    base, head = Timed(ours.hlo, task.base_times), Timed(theirs.hlo, task.head_times)
    if not base.joined or not head.joined:
        return Timing()
    return Timing(_view(base, head), (base.joined, head.joined))


def _view(base: Timed, head: Timed) -> ComparedTimesView:
    changes = compare_times(base, head)
    half = MOST // 2
    result = changes if len(changes) <= MOST else (*changes[:half], *changes[-half:])
    return ComparedTimesView(
        base_runs=base.runs,
        head_runs=head.runs,
        before=base.seconds * _MICROSECONDS,
        after=head.seconds * _MICROSECONDS,
        grade="exact",
        slower=sum(change.certain is True and change.more > 0 for change in changes),
        instructions=tuple(map(_change, result)),
        left_out=len(changes) - len(result),
        scopes=tuple(map(_scope, scope_changes(base, head))),
    )


def _change(time_change: TimeChange) -> TimeChangeView:
    return TimeChangeView(
        base=time_change.base,
        head=time_change.head,
        before=time_change.before * _MICROSECONDS,
        after=time_change.after * _MICROSECONDS,
        grade=str(time_change.grade),
        certain=time_change.certain,
        what=time_change.what,
    )


def _scope(scope_change: ScopeChange) -> ScopeTimeView:
    return ScopeTimeView(
        scope_change.name, scope_change.before * _MICROSECONDS, scope_change.after * _MICROSECONDS
    )


def own_timings(value: Mapping[int, tuple[TimingTask, Timing]]) -> Mapping[int, Timing]:
    """Keep those of the modules whose instructions the profiles name most of, by their places.

    Several of a name that cannot be told apart are guesses.
    """
    kept = {}
    for place, (task, timing) in value.items():
        alike = [other for each, other in value.values() if _same_name(task, each)]
        most = max(other.joined for other in alike)
        if timing.joined == most or timing.problem:
            doubtful = sum(other.joined == most for other in alike) > 1 and timing.view is not None
            kept[place] = _doubted(timing) if doubtful else timing
    return kept


def _same_name(timing_task: TimingTask, other: TimingTask) -> bool:
    return timing_task.base.name == other.base.name or timing_task.head.name == other.head.name


def _doubted(timing: Timing) -> Timing:
    return replace(timing, view=replace(timing.view, grade="guessed")) if timing.view else timing


def with_timings(
    modules: Sequence[ComparedView], timings: Mapping[int, Timing]
) -> tuple[ComparedView, ...]:
    """Add what was measured to the modules, by their places; the time of a run is a figure too."""
    return tuple(
        _with_times(module, timings[place].view) if place in timings else module
        for place, module in enumerate(modules)
    )


def _with_times(compared: ComparedView, times: ComparedTimesView | None) -> ComparedView:
    if times is None:
        return compared
    before, after = round(times.before * 1000), round(times.after * 1000)
    change = (after - before) / before if before else None
    figures = (*compared.figures, QuantityView(RUN, before, after, change))
    return replace(compared, times=times, figures=figures)
