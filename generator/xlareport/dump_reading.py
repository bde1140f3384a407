"""The first half of the pipeline: modules are read and analyzed by workers, results kept on disk.

Few results are in memory at a time, whatever the number of modules.
"""

from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, repeat
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.dump import AnalyzedDump, StoredAnalyses
from xlareport.analysis.fitted_profiles import assign_profiles
from xlareport.analysis.module import AnalysisOptions, unreadable_module
from xlareport.analysis.modules.dump_device import device_files, words_of_device
from xlareport.analysis.modules.marker import compile_marker
from xlareport.analysis.profile.instruction_times import ModuleTimes
from xlareport.analysis.ranks.members import rank_table
from xlareport.analysis.ranks.rank_comparison import compare_ranks
from xlareport.dump.classify import parse_all
from xlareport.dump.equivalent_modules import find_repeated_modules
from xlareport.dump.grouping import NamedDump, group_source
from xlareport.dump.kept_names import KeptNames
from xlareport.dump.modules import GroupedDump, ModuleFiles
from xlareport.dump.source import Source
from xlareport.module_work.kept import keep_in
from xlareport.module_work.process import ModuleResult, ModuleTask
from xlareport.module_work.reused_results import (
    duplicate_result,
    duplicate_texts,
    with_shared_files,
)
from xlareport.module_work.tasks import ModuleWork, match_large_modules
from xlareport.pages.module.output import ModuleOutput
from xlareport.pages.pictures.requests import PictureChoice
from xlareport.ptxas import Ptxas
from xlareport.readers.replay_result import ReplayResult
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.forked_parts import share_processes
from xlareport.runtime.limits import CACHE_BYTES, LIMITS, Limits
from xlareport.runtime.progress import ProgressCallback, silent
from xlareport.runtime.worker_pool import InlineWorkers, Workers
from xlareport.side_files import (
    ProfiledModules,
    add_logged_facts,
    list_unjoined,
    read_graphs,
    read_profiles,
    read_reasons,
)
from xlareport.site.folder import Folder
from xlareport.site.nights import keep_slugs
from xlareport.storage.packed_keys import PackedStrings, index_keys
from xlareport.storage.spooled_values import SpooledValues, most_resident

T = TypeVar("T")
R = TypeVar("R")

_READING = "reading modules"
_LEAST_SECONDS = 0.03
_BYTES_A_SECOND = 1_000_000
"""Of the files of modules, for a first guess of how long they take."""


class ReadingOptions(Struct, frozen=True):
    """The caller's options for reading."""

    out: Path = Path()
    marker: str | None = None
    """A regular expression that only the main program contains."""
    pictures: PictureChoice = "changed"
    cost_options: CostOptions = CostOptions()
    """The assumed device, and whether to show sources."""
    name: str | None = None
    """The dump's name in the report; None for the given path."""
    history: Path | None = None
    """The folder of nightly figures, to which this night is added."""
    limits: Limits = LIMITS
    """How much of the dump is taken."""
    profiles: tuple[str, ...] = ()
    """Folders, archives or files of profiles, in addition to those in the dump."""
    replays: tuple[ReplayResult, ...] = ()
    """The results of `replay --bisect` for modules of the dump."""
    ptxas: Ptxas | None = None
    """Compiles the PTX of the dump to get registers and spills; only on request."""
    cache_bytes: int = CACHE_BYTES
    """Limit on bytes kept in the output folder for the next build; 0 keeps no results."""


@dataclass(slots=True)
class DumpReading:
    """A dump whose modules are read by workers."""

    source: Source
    name: str
    named: NamedDump
    tasks: Iterable[ModuleTask]
    """The largest modules first."""
    number: int
    """How many tasks there are."""
    same: Mapping[str, str]
    """The key of the original for each module that repeats one."""
    equivalent: frozenset[str]
    """Keys of modules of ranks that repeat another one but for names, ids and notes."""
    watched: ProfiledModules
    """The profiles."""
    progress: ProgressCallback
    workers: Workers
    work: ModuleWork
    resident: int
    """How many results may stay in memory."""
    folder: Path | None = None
    """Folder for results that do not fit into memory; None for the temporary folder."""
    analyses: StoredAnalyses = field(init=False)
    outputs: SpooledValues[ModuleOutput] = field(init=False)
    """The data of pages in addition to the analyses, without the files of each module."""
    kept_as: PackedStrings = field(default_factory=PackedStrings)
    """The key under which the result of each module is kept; empty where it is not."""
    _keys: PackedStrings = field(default_factory=PackedStrings)
    """The keys of modules in the order of their results."""
    _done: bool = False

    def __post_init__(self) -> None:
        self.analyses = StoredAnalyses(self.folder, self.resident)
        self.outputs = SpooledValues(self.folder, self.resident)

    @property
    def grouped(self) -> GroupedDump:
        """The modules, in order."""
        return self.named.grouped

    def results(self) -> Iterator[ModuleResult]:
        """Yield the result of each module once, as they complete."""
        for task, result in self._read_each():
            self._keep(task.files.key, result)
            self.progress(_READING, len(self._keys), self.number)
            yield result
        if self.same:
            for result in self._repeated(index_keys(self._keys, len(self._keys))):
                self._keep(result.analysis.summary.files.key, result)
                yield result
        places = index_keys(self._keys, len(self._keys))
        order = array("q", (places[module.key] for module in self.grouped.modules))
        self._keys = PackedStrings()
        self.analyses.reorder(order)
        self.outputs.reorder(order)
        self.kept_as = PackedStrings(map(self.kept_as.value_at, order))
        self._done = True

    def _read_each(self) -> Iterator[tuple[ModuleTask, ModuleResult]]:
        """Yield each task with its result.

        What a former build kept is found here: on its way from a worker it takes longer.
        """
        tasks: Iterable[ModuleTask] = self.tasks
        if self.work.may_find and isinstance(self.tasks, _LargestFirst):
            is_missing = bytearray()
            for task in self.tasks:
                kept = self.work.find(task)
                is_missing.append(kept is None)
                if kept is not None:
                    yield task, kept
            tasks = self.tasks.chosen(is_missing)
        for task, result in self.workers.stream(self.work, tasks, _process_died, _expected_seconds):
            shared = result
            if len(self.analyses) < self.resident:  # else it is not kept in memory
                shared = replace(result, analysis=with_shared_files(result.analysis, task.files))
            yield task, shared

    def finish(self) -> None:
        """Read the modules that are not read yet."""
        if not self._done:
            for _ in self.results():
                pass

    def _keep(self, key: str, result: ModuleResult) -> None:
        self._keys.append(key)
        self.kept_as.append(result.kept_as)
        self.analyses.append(result.analysis)
        output = replace(result.output, payloads=(), drawn=None)
        if self.work.pictures != "main":
            output = replace(output, requests=())
        self.outputs.append(output)

    def _repeated(self, places: Mapping[str, int]) -> Iterator[ModuleResult]:
        """Yield the results of modules that repeat others, with copies of their own texts.

        `places` are those of the results until now, by the keys of their modules.
        """

        def repeated() -> Iterator[ModuleFiles]:
            return (module for module in self.grouped.modules if module.key in self.same)

        texts = (
            iter([()] * len(self.same))
            if self.work.pictures is None
            else self.workers.stream_in_order(duplicate_texts, repeated(), duplicate_texts)
        )
        for module, copies in zip(repeated(), texts, strict=True):
            original = self.analyses[places[self.same[module.key]]]
            identical = module.key not in self.equivalent
            yield duplicate_result(ModuleResult(original), module, copies, identical=identical)


def analyze(reading: DumpReading, limits: Limits = LIMITS) -> AnalyzedDump:
    """Return the dump after all modules are analyzed and the files of no module are read."""
    reading.finish()
    modules = reading.analyses
    summaries = reading.analyses.summaries
    originals = {key: reading.same[key] for key in reading.equivalent}
    ranks, unranked = rank_table(reading.name, summaries, reading.grouped)
    differences, uncompared = compare_ranks(
        summaries, ranks, reading.grouped.modules, reading.workers, originals
    )
    others, watched = reading.grouped.others, reading.watched
    graphs, problems = read_graphs(others, limits)
    reasons, unread = read_reasons(others, limits) if graphs else ({}, ())
    modules, unreadable = add_logged_facts(modules, others, limits)
    if watched.modules:
        modules = modules.replaced(assign_profiles(modules, watched.modules))
    unjoined = list_unjoined(watched, {summary.files.name for summary in summaries})
    side_files = {graph.path: "read: clusters and links come from it" for graph in graphs}
    side_files |= dict.fromkeys(watched.read, "read: measured times come from it")
    return AnalyzedDump(
        name=reading.name,
        named=reading.named,
        problems=(
            *(*reading.source.problems, *problems, *watched.problems),
            *(*unjoined, *unread, *unreadable, *unranked, *uncompared),
        ),
        modules=modules,
        ranks=ranks,
        graphs=graphs,
        reasons=reasons,
        side_files=side_files,
        rank_differences=differences,
    )


def _expected_seconds(task: ModuleTask) -> float:
    return _LEAST_SECONDS + task.files.bytes / _BYTES_A_SECOND


def _process_died(task: ModuleTask) -> ModuleResult:
    reason = "the process that read it died, perhaps out of memory"
    return ModuleResult(unreadable_module(task.files, reason))


def begin_reading(
    source: Source,
    options: ReadingOptions,
    workers: Workers,
    progress: ProgressCallback,
    *,
    pages: bool,
    named: NamedDump | None = None,
) -> DumpReading:
    """Return the modules of a dump, to be read; `pages` makes payloads and drawings as well.

    `named` are its files and modules, where the caller has them already.
    """

    def run(work: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
        return workers.stream_in_order(work, items, work) if workers.is_remote else map(work, items)

    folder = Folder(options.out).cache.absolute() if pages else None
    store = keep_in(folder, options.cache_bytes) if folder else None
    parse_each = KeptNames(store.store, store.program) if store else parse_all
    named = named or group_source(source, run, parse_each, workers.run_apart)
    grouped = keep_slugs(named.grouped, options.history)
    named = replace(named, grouped=grouped)
    watched = read_profiles(source, options.profiles, options.limits, progress)
    repeated = find_repeated_modules(grouped.modules, run)
    number = len(grouped.modules) - len(repeated.same)
    replays = _replays(options.replays, grouped, repeated.same)
    progress(_READING, 0, number)
    others = words_of_device(grouped.modules, options.cost_options, run)

    def task(module: ModuleFiles, total: int) -> ModuleTask:
        times, replay = watched.modules.get(module.name), replays.get(module.key)
        analyzed = _analysis_options(options, times, replay, pages=pages)
        if others and device_files(module, options.cost_options) is None:
            cost_options = replace(analyzed.cost_options, others=others)
            analyzed = replace(analyzed, cost_options=cost_options)
        shared = share_processes(module.bytes, total, workers.jobs)
        return ModuleTask(module, analyzed, 1 if workers.is_remote else shared)

    work = ModuleWork(options.pictures if pages else None, store, pages and workers.is_remote)
    tasks = _LargestFirst(grouped.modules, repeated.same, task)
    return DumpReading(
        source=source,
        name=options.name or source.name,
        named=named,
        tasks=match_large_modules(iter(tasks), work, workers, progress) if work.draws else tasks,
        number=number,
        same=repeated.same,
        equivalent=repeated.equivalent,
        watched=watched,
        progress=progress,
        workers=workers,
        work=work,
        resident=most_resident(tasks.dumped),
        folder=folder,
    )


def read_outlines(source: Source, named: NamedDump, limits: Limits = LIMITS) -> AnalyzedDump:
    """Return a dump with outlines of its modules, all of them read in this process."""
    options, workers = ReadingOptions(limits=limits), InlineWorkers()
    return analyze(
        begin_reading(source, options, workers, silent, pages=False, named=named), limits
    )


class _LargestFirst:
    """The tasks of modules, each made when it is wanted, as often as it is wanted."""

    def __init__(
        self,
        modules: Sequence[ModuleFiles],
        without: Container[str],
        task: Callable[[ModuleFiles, int], ModuleTask],
    ) -> None:
        """Keep the order of modules, but for those of some keys; `task` takes the bytes of all."""
        self._modules, self._task = modules, task
        sizes, here = array("q"), array("q")
        for place, module in enumerate(modules):
            sizes.append(module.bytes)
            if module.key not in without:
                here.append(place)
        self.dumped = sum(sizes)
        """Bytes of all modules, with those without a task."""
        self._total = sum(map(sizes.__getitem__, here))
        self._order = array("q", sorted(here, key=sizes.__getitem__, reverse=True))

    def __iter__(self) -> Iterator[ModuleTask]:
        return self.chosen(repeat(object=True))

    def chosen(self, is_wanted: Iterable[object]) -> Iterator[ModuleTask]:
        """Yield those tasks for which there is a true value."""
        for place in compress(self._order, is_wanted):
            yield self._task(self._modules[place], self._total)


def _replays(
    results: Sequence[ReplayResult], grouped: GroupedDump, same: Mapping[str, str]
) -> dict[str, ReplayResult]:
    """Return the results by the keys of their modules; raises UnreadableInputError."""
    keys = {module.key for module in grouped.modules} if results else set()
    replays: dict[str, ReplayResult] = {}
    for result in results:
        if result.module not in keys:
            raise UnreadableInputError(f"--replay names {result.module}, which the dump has not.")
        replays[same.get(result.module, result.module)] = result
    return replays


def _analysis_options(
    options: ReadingOptions, times: ModuleTimes | None, replay: ReplayResult | None, *, pages: bool
) -> AnalysisOptions:
    return AnalysisOptions(
        marker=compile_marker(options.marker) if options.marker else None,
        cost_options=options.cost_options,
        times=times,
        replay=replay,
        ptxas=_kept_ptxas(options, pages=pages),
    )


def _kept_ptxas(options: ReadingOptions, *, pages: bool) -> Ptxas | None:
    """Return the assembler; a build caches its messages, reading alone does not."""
    if options.ptxas is None or not pages:
        return options.ptxas
    return replace(options.ptxas, cache=Folder(options.out).cache / "ptxas")
