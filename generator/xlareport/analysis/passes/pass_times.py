"""Time for each pass, and what ran inside each step, where the compiler wrote that down.

`module_NNNN.metadata.textproto` has every run with its start and end. Without it the times of the
files are a fallback: right only where the dump was copied with them, and often whole seconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.steps.boundaries import START, Boundary, actor
from xlareport.dump.modules import ModuleFiles, SnapshotFiles
from xlareport.readers.pass_metadata import ModuleMetadata, PassRun
from xlareport.runtime import units
from xlareport.runtime.english import first_few

_NAMES_SHOWN = 8
_MICROSECONDS = 1e6


class PassTime(Struct, frozen=True):
    """All runs of one pass."""

    name: str
    runs: int
    changed: int
    """Runs that reported a change."""
    self_microseconds: int | None
    """Own time, without nested passes; None if unknown."""


class FileTimes(Struct, frozen=True):
    """Seconds between the times of files."""

    passes: float | None
    """From the first file to the last snapshot between passes; None where there is none."""
    whole: float
    """From the first file to the last."""


class StepTime(Struct, frozen=True):
    """The duration of a step."""

    seconds: float
    measured: bool
    """Whether the compiler measured the passes; else the time is from file times."""


def sum_pass_times(metadata: ModuleMetadata) -> tuple[PassTime, ...]:
    """Return the passes, the longest first; self times sum to at most the span."""
    pass_times: dict[str, PassTime] = {}
    for timed in metadata.timed():
        run, self_time = timed.run, timed.self_time
        former = pass_times.get(run.name, PassTime(run.name, 0, 0, None))
        pass_times[run.name] = PassTime(
            name=run.name,
            runs=former.runs + 1,
            changed=former.changed + run.changed,
            self_microseconds=self_time
            if former.self_microseconds is None
            else former.self_microseconds + (self_time or 0),
        )
    return tuple(
        sorted(
            pass_times.values(),
            key=lambda pass_time: (-(pass_time.self_microseconds or 0), pass_time.name),
        )
    )


def estimate_file_times(files: ModuleFiles) -> FileTimes | None:
    """Return the duration of compilation from file times; None if these do not show it."""
    times = [artifact.entry.modified for artifact in files.artifacts]
    between = [
        artifact.entry.modified
        for stage in files.stages
        if stage.sequence is not None
        for artifact in stage.artifacts
    ]
    written = [time for time in times if time is not None]
    last = [time for time in between if time is not None]
    if not written or max(written) - min(written) < 1:
        return None
    first = min(written)
    return FileTimes(max(last) - first if last else None, max(written) - first)


def estimate_step_times(
    stages: Sequence[SnapshotFiles], metadata: ModuleMetadata | None
) -> tuple[StepTime | None, ...]:
    """Return for each snapshot the time since the one before; None where it is not known."""
    if metadata is None:
        return (None, *(_by_files(*pair) for pair in pairwise(stages)))[: len(stages)]
    self_times = {timed.run: timed.self_time for timed in metadata.timed()}
    inside = assign_runs(stages, metadata)
    return tuple(
        _by_runs(inside[n], self_times) if n in inside else None for n in range(len(stages))
    )


def _by_runs(runs: Sequence[PassRun], own: Mapping[PassRun, int | None]) -> StepTime | None:
    """Sum the self times; starts of pipelines are left out, for they only write files."""
    times = [own[run] for run in runs if run.name != START]
    measured = [time for time in times if time is not None]
    return StepTime(sum(measured) / _MICROSECONDS, measured=True) if measured else None


def _by_files(before: SnapshotFiles, after: SnapshotFiles) -> StepTime | None:
    old, new = (max(_modified(snapshot), default=None) for snapshot in (before, after))
    if old is None or new is None or new <= old:
        return None
    return StepTime(float(new - old), measured=False)  # archives state whole numbers


def _modified(stage: SnapshotFiles) -> Iterator[float]:
    every = (artifact.entry.modified for artifact in stage.artifacts)
    return (time for time in every if time is not None)


def assign_runs(
    stages: Sequence[SnapshotFiles], metadata: ModuleMetadata
) -> Mapping[int, list[PassRun]]:
    """Return the pass runs between each snapshot and the previous one, in order, by index."""
    writers = {file: run for run in metadata.runs for file in run.files}
    ended = sorted((run for run in metadata.runs if run.end is not None), key=_end)
    pass_runs: dict[int, list[PassRun]] = {}
    for number in range(1, len(stages)):
        first, last = _writer(stages[number - 1], writers), _writer(stages[number], writers)
        if first is not None and last is not None and _end(first) <= _end(last):
            inside = [run for run in ended if _end(first) < _end(run) <= _end(last)]
            pass_runs[number] = [run for run in inside if run is not first]
    return pass_runs


def refine_boundaries(
    between: Sequence[Boundary], stages: Sequence[SnapshotFiles], metadata: ModuleMetadata
) -> tuple[Boundary, ...]:
    """Return boundaries with the facts in the metadata: passes that ran or made changes."""
    inside, pipelines = assign_runs(stages, metadata), find_pipelines(metadata)
    return tuple(
        _exact(boundary, inside[boundary.number], pipelines, metadata)
        if boundary.number in inside
        else boundary
        for boundary in between
    )


def _exact(
    between: Boundary,
    inside: Sequence[PassRun],
    pipelines: frozenset[str],
    metadata: ModuleMetadata,
) -> Boundary:
    passes = [run for run in inside if run.name != START and run.name not in pipelines]
    changed = [run.name for run in passes if run.changed]
    around = _at_work(inside[-1], pipelines, metadata) if inside else None
    suspects = changed or ([around] if around else [])
    alone = len(suspects) == 1
    ran = suspects[0] if alone else between.ran
    certain = alone or between.certain
    return replace(
        between,
        ran=ran,
        certain=certain,
        actor=actor(ran, certain=certain) if ran else between.actor,
        note=_passes_sentence([run.name for run in passes], changed, around),
        inside=tuple((run.name, run.changed) for run in passes),
    )


def _at_work(last: PassRun, pipelines: frozenset[str], metadata: ModuleMetadata) -> str | None:
    """Return the pass that had begun and not ended when a file was written, the innermost one."""
    around = [
        run
        for run in metadata.runs
        if run is not last and run.name not in pipelines and _holds(run, last)
    ]
    return max(around, key=lambda run: run.start or 0).name if around else None


def _holds(run: PassRun, other: PassRun) -> bool:
    if run.start is None or run.end is None or other.start is None or other.end is None:
        return False
    return run.start < other.start and other.end < run.end


def find_pipelines(metadata: ModuleMetadata) -> frozenset[str]:
    """Return the names of runs that contain others."""
    return frozenset(run.pipeline for run in metadata.runs) & {run.name for run in metadata.runs}


def _passes_sentence(ran: Sequence[str], changed: Sequence[str], around: str | None) -> str:
    working = f" `{around}` was still at work when the file was written." if around else ""
    if not ran:
        return f"By the compiler's own metadata, no pass ran here from start to end.{working}"
    which = f"{_name_passes(changed)} reported a change" if changed else "none reported a change"
    return (
        f"By the compiler's own metadata, exactly {units.plural(len(ran), 'pass', 'passes')} ran "
        f"here: {_name_passes(ran)}; {which}.{working}"
    )


def _name_passes(names: Sequence[str]) -> str:
    return first_few(list(_name_counts(names)), _NAMES_SHOWN)


def _name_counts(names: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        times = names.count(name)
        yield f"`{name}`" if times == 1 else f"`{name}` ({times} times)"


def _writer(stage: SnapshotFiles, writers: Mapping[str, PassRun]) -> PassRun | None:
    files = (artifact.path.rpartition("/")[2] for artifact in stage.artifacts)
    pass_runs = (writers[file] for file in files if file in writers)
    return next((run for run in pass_runs if run.end is not None), None)


def _end(run: PassRun) -> int:
    return run.end or 0
