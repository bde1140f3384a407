"""The process that compiled each module, from folders and from repeated numbers.

A process uses a number only once and counts upward. If a folder has a number twice, several
processes wrote into it; the times at which modules were written then separate them, unless the
processes ran at the same time or the times were lost. Compilers of different backends in one
process, as libtpu and the CPU client of jaxlib, each count their modules from zero.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.storage.packed_keys import (
    ChosenValues,
    KeyedValues,
    digest_number,
    group_alike,
    index_keys,
)

Process = tuple[str, int]
"""The folder, and which of the processes that wrote there."""
Processes = Mapping[str, Process | None]
"""The process of each module by its key; None if unknown."""


def places_of(summaries: Sequence[ModuleSummary]) -> Mapping[str, int]:
    """Return the index of each module by its key."""
    key_places: Mapping[str, int] | None = getattr(summaries, "key_places", None)
    if key_places is not None:
        return key_places
    return index_keys((summary.files.key for summary in summaries), len(summaries))


def assign_processes(summaries: Sequence[ModuleSummary]) -> Processes:
    """Return the process of each module by its key; None if unknown."""
    return KeyedValues(places_of(summaries), assign_in_order(summaries))


def assign_in_order(summaries: Iterable[ModuleSummary]) -> Sequence[Process | None]:
    """Return the process of each module; None if unknown."""
    folders: dict[str, _Folder] = defaultdict(_Folder)
    number = 0
    for place, module in enumerate(summaries):
        folders[name_folder(module)].add(place, module)
        number = place + 1
    assigned: list[Process | None] = [None] * number
    for where, folder in folders.items():
        by_number: dict[int | None, Process | None] = {None: None}
        for place, process in zip(folder.places, _process_indices(folder), strict=True):
            if process not in by_number:
                by_number[process] = (where, process or 0)
            assigned[place] = by_number[process]
    return assigned


def ranks_in_one_folder(
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> Mapping[str, Sequence[ModuleSummary]]:
    """Return, by folder, the modules of ranks that number and time cannot separate.

    Modules with equal name and content under several numbers show that they are ranks of one
    program, because a process compiles them once; folders without any belong to unrelated programs.
    """
    if None not in assigned.values():
        return {}
    folders: dict[str, tuple[array[int], set[int]]] = {}
    for place, summary in enumerate(summaries):
        if assigned[summary.files.key] is None and summary.features.content:
            places, programs = folders.setdefault(name_folder(summary), (array("q"), set()))
            places.append(place)
            programs.add(_program_number(summary))
    return {
        where: ChosenValues(summaries, places)
        for where, (places, programs) in folders.items()
        if len(programs) < len(places)
    }


def select_programs(members: Sequence[ModuleSummary]) -> Sequence[ModuleSummary]:
    """Return each program of ranks in one folder once, in the order of the one that has most.

    A rank that compiles more than the others gives its modules the higher numbers.
    """
    numbered = [(member.files.id or 0, _program_number(member)) for member in members]
    in_order = sorted(range(len(members)), key=lambda place: numbered[place][0])
    last = {numbered[place][1]: place for place in in_order}
    return ChosenValues(members, sorted(last.values(), key=lambda place: numbered[place][0]))


def alike_programs(members: Sequence[ModuleSummary]) -> Iterable[Sequence[ModuleSummary]]:
    """Yield groups of several modules with the same name and content."""
    for places in group_alike([_program_number(member) for member in members]):
        yield ChosenValues(members, places)


def _program_number(module: ModuleSummary) -> int:
    """Return a number that identifies a program by name and content."""
    return digest_number((module.display_name, module.features.content))


def name_folder(module: ModuleSummary) -> str:
    """Return the folder that XLA wrote to, with the process where that has a folder of its own."""
    return module.files.figures.process_folder or module.files.folder


class _Folder(Struct):
    """The data that separates the modules of one folder into processes, in order."""

    places: "array[int]" = field(default_factory=lambda: array("q"))
    ids: list[int | None] = field(default_factory=list)
    written: "array[float]" = field(default_factory=lambda: array("d"))
    """Start of compilation in microseconds, if known; else 0."""
    programs: "array[int]" = field(default_factory=lambda: array("q"))
    """Digest that also differs for programs with other constants; -1 if none was read."""
    compiled: bytearray = field(default_factory=bytearray)
    """Whether a module has snapshots."""
    backends: list[str | None] = field(default_factory=list)

    def add(self, place: int, module: ModuleSummary) -> None:
        """Add a module; only these properties of it are kept."""
        self.places.append(place)
        self.ids.append(module.files.id)
        self.written.append(_compilation_start(module) or 0.0)
        # programs of one form differ in their constants, as static arguments do
        program = digest_number((_program_number(module), module.features.scalars))
        self.programs.append(program if module.features.content else -1)
        self.compiled.append(bool(module.stages))
        self.backends.append(module.origin.backend)

    def counters(self) -> Sequence[str | None]:
        """Return which compiler counted each module: its backend, if every module's is known."""
        rows = zip(self.compiled, self.backends, strict=True)
        all_known = all(backend for has_snapshots, backend in rows if has_snapshots)
        return self.backends if all_known else [None] * len(self.backends)


def _process_indices(folder: _Folder) -> Sequence[int | None]:
    """Return the index of each module's process within one folder, in order of time.

    Files that belong to no snapshot have no timestamp, so that those of several processes count as
    one.
    """
    compiled = [at for at, has_snapshots in enumerate(folder.compiled) if has_snapshots]
    counters = folder.counters()
    numbered = ((counters[at], folder.ids[at]) for at in compiled if folder.ids[at] is not None)
    most = max(Counter(numbered).values(), default=1)
    if most == 1:
        return [0] * len(folder.places)
    numbers: list[int | None] = [None] * len(folder.places)
    in_time = sorted(compiled, key=lambda at: (folder.written[at], folder.ids[at] or 0))
    process, last = 0, dict[str | None, int]()
    for at in in_time:
        number = folder.ids[at]
        if number is not None:
            if number <= last.get(counters[at], -1):
                process, last = process + 1, {}
            last[counters[at]] = number
            numbers[at] = process
    is_counted = all(folder.written[at] for at in compiled) and process + 1 == most
    if not is_counted or _repeats(folder, compiled, numbers):
        return [None] * len(folder.places)
    return numbers


def _repeats(folder: _Folder, compiled: Iterable[int], numbers: Sequence[int | None]) -> bool:
    """Return whether a process would have compiled a program twice: then ranks ran side by side."""
    programs = ((numbers[at], folder.programs[at]) for at in compiled if folder.programs[at] >= 0)
    return max(Counter(programs).values(), default=1) > 1


def _compilation_start(module: ModuleSummary) -> float | None:
    """Return the start of compilation in microseconds, from the timestamp or file times."""
    if module.files.timestamp is not None:
        return float(module.files.timestamp)
    written = module.files.figures.written
    return None if written is None else written * 1e6
