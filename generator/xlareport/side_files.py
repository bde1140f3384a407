"""Files of a dump that belong to no single module: graphs and logs of the framework, profiles."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import IO, TypeVar

from msgspec import Struct, field

from xlareport.analysis.dump import StoredAnalyses
from xlareport.analysis.logged_spills import assign_spills
from xlareport.analysis.partitioner_warnings import assign_warnings
from xlareport.analysis.profile.instruction_times import ModuleTimes, sum_times
from xlareport.dump.beside import profiles_beside
from xlareport.dump.filename import sanitised
from xlareport.dump.modules import Artifact
from xlareport.dump.source import Entry, Source, open_source
from xlareport.readers.op_events import OpEvent
from xlareport.readers.partitioner_log import read_partitioner_log
from xlareport.readers.spill_log import read_spill_log
from xlareport.readers.tf_graph import FrameworkGraph, read_tf_graph, read_tf_log
from xlareport.readers.trace_events import trace_events
from xlareport.readers.xplane import xplane_events
from xlareport.runtime import units
from xlareport.runtime.errors import Problem, error_reason
from xlareport.runtime.grouping import group_by_key
from xlareport.runtime.limits import LIMITS, Limits, too_large
from xlareport.runtime.progress import ProgressCallback, silent

T = TypeVar("T")

_XPLANE = ".xplane.pb"
PROFILES = (_XPLANE, ".trace.json.gz", ".trace.json")
"""Endings of names of profile files."""
_READING = "reading profiles, megabytes"
_MEGABYTE = 1_000_000
_EVENTS = 20_000
"""Number of events between reports of progress."""


def read_graphs(
    artifacts: Sequence[Artifact], limits: Limits = LIMITS
) -> tuple[tuple[FrameworkGraph, ...], tuple[Problem, ...]]:
    """Return the framework's graphs that are in the dump next to the modules."""
    graphs: list[FrameworkGraph] = []
    problems: list[Problem] = []
    listed = (artifact for artifact in artifacts if artifact.name.kind == "tf-graph")
    for artifact, content in _open_files(listed, limits, problems):
        framework_graphs, wrong = read_tf_graph(content, artifact.path)
        graphs += framework_graphs
        problems += wrong
    return tuple(graphs), tuple(problems)


def read_reasons(
    artifacts: Sequence[Artifact], limits: Limits = LIMITS
) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
    """Return why the framework left operations out of its clusters, from logs in the dump."""
    reasons: dict[str, str] = {}
    problems: list[Problem] = []
    listed = (artifact for artifact in artifacts if artifact.name.kind == "log")
    for _, content in _open_files(listed, limits, problems):
        reasons |= read_tf_log(content)
    return reasons, tuple(problems)


def add_logged_facts(
    modules: StoredAnalyses, others: Sequence[Artifact], limits: Limits
) -> tuple[StoredAnalyses, tuple[Problem, ...]]:
    """Return the modules with what compilers warn of, off logs that are read if any applies."""
    problems: tuple[Problem, ...] = ()
    if not any(artifact.name.kind == "log" for artifact in others):
        return modules, problems
    if any(module.shardings is not None for module in modules):
        warnings, problems = _read_logs(others, limits, read_partitioner_log)
        modules = modules.replaced(assign_warnings(modules, warnings)) if warnings else modules
    if any(module.kernels is not None for module in modules):
        spills, unread = _read_logs(others, limits, read_spill_log)
        modules = modules.replaced(assign_spills(modules, spills)) if spills else modules
        problems = tuple(dict.fromkeys((*problems, *unread)))
    return modules, problems


def _read_logs(
    artifacts: Sequence[Artifact], limits: Limits, read: Callable[[bytes], Iterable[T]]
) -> tuple[tuple[T, ...], tuple[Problem, ...]]:
    """Return the values that a reader finds in each log of the dump."""
    problems: list[Problem] = []
    listed = (artifact for artifact in artifacts if artifact.name.kind == "log")
    values = [
        value for _, content in _open_files(listed, limits, problems) for value in read(content)
    ]
    return tuple(values), tuple(problems)


class ProfileReading(Struct):
    """The files and problems of profiles, while their events are read."""

    progress: ProgressCallback = silent
    """Called at intervals with the megabytes that are read, and their total."""
    read: list[str] = field(default_factory=list)
    """Paths of the files that held events."""
    problems: list[Problem] = field(default_factory=list)


def profile_events(
    entries: Iterable[Entry], reading: ProfileReading, limits: Limits = LIMITS
) -> Iterator[OpEvent]:
    """Yield the events of the profiles among files; of several formats, only the best one."""
    folders = group_by_key(
        (entry.path.rpartition("/")[0], entry) for entry in entries if entry.path.endswith(PROFILES)
    )
    for forms in folders.values():
        forms.sort(key=lambda form: not form.path.endswith(_XPLANE))
    sizes = [forms[0].size for forms in folders.values()]
    before, total = accumulate(sizes, initial=0), sum(sizes)
    for number, (forms, done) in enumerate(zip(folders.values(), before, strict=False)):
        show_progress = partial(_show_progress, reading, done, total)
        for form in forms:
            value = len(reading.read)
            yield from _of_file(number, form, reading, limits, show_progress)
            if len(reading.read) > value:
                break


def _show_progress(reading: ProfileReading, before: int, total: int, position: int) -> None:
    if total > _MEGABYTE:
        reading.progress(_READING, (before + position) // _MEGABYTE, total // _MEGABYTE)


def _of_file(
    number: int,
    entry: Entry,
    reading: ProfileReading,
    limits: Limits,
    progress: Callable[[int], None],
) -> Iterator[OpEvent]:
    """Yield the events of a profile, which has been read where there is any."""
    if entry.size > limits.file_bytes:
        why = too_large(limits.file_bytes, "--max-file-size")
        reading.problems.append(Problem(entry.path, None, f"Not read: {why}."))
        return
    try:
        with entry.open() as file:
            for event in _profile_events(file, entry.path, reading, progress):
                event.thread = (number, *event.thread)
                yield event
        progress(entry.size)
    except OSError as error:
        reading.problems.append(Problem(entry.path, None, f"Not read: {error_reason(error)}."))


def _profile_events(
    file: IO[bytes], path: str, reading: ProfileReading, progress: Callable[[int], None]
) -> Iterator[OpEvent]:
    """Yield the events of an open profile, and report progress at intervals."""
    events_of = xplane_events if path.endswith(_XPLANE) else trace_events
    for place, event in enumerate(events_of(file, path, reading.problems)):
        if not place:
            reading.read.append(path)
        if not place % _EVENTS:
            progress(file.tell())
        yield event


def _open_files(
    artifacts: Iterable[Artifact], limits: Limits, problems: list[Problem]
) -> Iterator[tuple[Artifact, bytes]]:
    """Yield files of no module with their contents; unreadable ones become problems."""
    for artifact in artifacts:
        try:
            wrong = _too_large(artifact, limits)
            if not wrong:
                yield artifact, artifact.entry.read()
        except OSError as error:
            wrong = error_reason(error)
        if wrong:
            problems.append(Problem(artifact.path, None, f"Not read: {wrong}."))


def _too_large(artifact: Artifact, limits: Limits) -> str:
    fits = artifact.entry.size <= limits.beside_bytes
    return "" if fits else too_large(limits.beside_bytes, "--max-beside-size")


_MOST_NAMED = 5


class ProfiledModules(Struct, frozen=True):
    """The profiles of the modules."""

    modules: Mapping[str, ModuleTimes]
    """By the name of the module, as it is in file names."""
    read: tuple[str, ...]
    """Paths of the files that were read."""
    problems: tuple[Problem, ...]


def read_profiles(
    source: Source,
    profiles: Sequence[str],
    limits: Limits = LIMITS,
    progress: ProgressCallback = silent,
    *,
    beside: Sequence[Path] | None = None,
) -> ProfiledModules:
    """Return the profiles in the dump, next to it, and in the given places.

    `beside` are the folders next to it, if the caller has determined which of them belong to it.
    Raises UnreadableInputError if one of `profiles` cannot be opened.
    """
    with ExitStack() as opened:
        near = profiles_beside(source.location) if beside is None else beside
        places: list[str | Path] = [*profiles, *near]
        more = [opened.enter_context(open_source(place, limits)) for place in places]
        reading = ProfileReading(progress)
        entries = chain(source.entries, *(source.entries for source in more))
        times = sum_times(profile_events(entries, reading, limits))
    modules = {sanitised(name): measured for name, measured in times.items()}
    return ProfiledModules(modules, tuple(reading.read), tuple(reading.problems))


def list_unjoined(watched: ProfiledModules, names: Collection[str]) -> tuple[Problem, ...]:
    """Return problems for events of modules that the dump lacks; `names` are those it has."""
    others = [module for name, module in watched.modules.items() if name not in names]
    if not others:
        return ()
    others.sort(key=lambda times: -times.events)
    named = [times.module or "no module that was running" for times in others[:_MOST_NAMED]]
    more = [f"{len(others) - _MOST_NAMED} more"] if len(others) > _MOST_NAMED else []
    events = units.plural(sum(times.events for times in others), "event")
    words = f"{events} of {', '.join([*named, *more])}: the dump has no such module."
    return (Problem(watched.read[0], None, words),)
