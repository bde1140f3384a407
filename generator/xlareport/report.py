"""The one pipeline: a dump in, a report out. Read this first.

    path -> source -> files -> modules -> analysed modules -> report -> pages -> site

Each arrow is one function below. Reading and analysis run one module to a process; everything that
a process returns is a value; one writer writes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

from xlareport.analysis.cost.options import CostOptions
from xlareport.analysis.dump import AnalyzedDump, relate_modules
from xlareport.analysis.fitted_profiles import assign_profiles
from xlareport.analysis.module import AnalysisOptions, unreadable_module
from xlareport.analysis.modules.marker import compile_marker
from xlareport.analysis.profile.times import ModuleTimes
from xlareport.analysis.ranks.work import compare_ranks
from xlareport.dump.duplicates import find_duplicates
from xlareport.dump.modules import Artifact, GroupedDump, ModuleFiles, find_module
from xlareport.dump.rank_modules import group_source
from xlareport.dump.rank_twins import find_rank_twins
from xlareport.dump.source import Source, open_source
from xlareport.pages.assembly import SiteInput, site_files
from xlareport.pages.module.drawing import (
    early_requests,
    main_requests,
    note_faulty,
    part_requests,
)
from xlareport.pages.module.duplicate import Payloads, duplicate_result, duplicate_texts
from xlareport.pages.module.kept import KeptModules, keep_all_pictures, keep_in
from xlareport.pages.module.work import ModuleResult, process_module
from xlareport.pages.pictures.requests import PictureChoice, left_out, picture_files, plain_files
from xlareport.pages.program.picture import program_picture
from xlareport.pages.rendering.templates import take_compiled
from xlareport.pictures.draw import Place, Renderer
from xlareport.pictures.layout_pool import LayoutPool
from xlareport.program import ParsedModule, read_module
from xlareport.ptxas import Ptxas
from xlareport.readers.replay_result import ReplayResult
from xlareport.records.build import build_report, with_problems
from xlareport.records.report import ReportRecord
from xlareport.runtime.errors import (
    UnreadableInputError,
    UnwritableOutputError,
)
from xlareport.runtime.faults import Faults
from xlareport.runtime.forked_parts import share_processes
from xlareport.runtime.garbage_collection import rare_collections
from xlareport.runtime.limits import CACHE_BYTES, LIMITS, Limits
from xlareport.runtime.progress import ProgressCallback, silent
from xlareport.runtime.worker_pool import Task, WorkerPool, completed
from xlareport.side_files import (
    ProfiledModules,
    add_logged_facts,
    list_unjoined,
    read_graphs,
    read_profiles,
    read_reasons,
)
from xlareport.site.builder import MkdocsWorker, build_site
from xlareport.site.folder import Folder, check_apart
from xlareport.site.nights import append_night, keep_slugs, read_nightly
from xlareport.site.writer import write_sources

_READING = "reading modules"
_BUILDING = "building the site"


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What the caller wants beside the dump."""

    out: Path = Path()
    jobs: int = 1
    marker: str | None = None
    """A regular expression that only the main program contains."""
    pictures: PictureChoice = "changed"
    cost_options: CostOptions = field(default_factory=CostOptions)
    """Which device to reckon with, and whether to show sources."""
    name: str | None = None
    """What the report calls the dump; None for the path that was given."""
    title: str | None = None
    """What the head of every page says; None for what the settings in OUT say."""
    history: Path | None = None
    """The folder of nightly figures, to which this night is added."""
    keep: int | None = None
    """How many nights are kept there; None keeps all."""
    limits: Limits = LIMITS
    """How much of the dump is taken."""
    profiles: tuple[str, ...] = ()
    """Folders, archives or files with what profilers wrote, beside those in the dump."""
    replays: tuple[ReplayResult, ...] = ()
    """What `replay --bisect` found for modules of the dump."""
    ptxas: Ptxas | None = None
    """Compiles the PTX of the dump to know registers and spills; never without being asked."""
    cache_bytes: int = CACHE_BYTES
    """What may be kept in the output folder for the next build; 0 keeps no results."""
    html: bool = True
    """Run mkdocs; without it only its sources and report.json are written."""


@dataclass(frozen=True, slots=True)
class Built:
    """What a build leaves beside the site."""

    report: ReportRecord
    warnings: str
    """What MkDocs had to say, of the user's own pages as a rule; empty when all is well."""


@dataclass(slots=True)
class DumpReading:
    """A dump whose modules are being read by the worker pool."""

    source: Source
    name: str
    artifacts: Sequence[Artifact]
    grouped: GroupedDump
    tasks: Sequence[Task[ModuleFiles, ModuleResult]]
    """The largest modules first."""
    again: Mapping[str, tuple[ModuleFiles, Task[ModuleFiles, Payloads] | None]]
    """By their keys, modules that repeat others: which these are, and the copies of the texts."""
    watched: ProfiledModules
    """What profilers saw."""
    progress: ProgressCallback
    workers: WorkerPool
    kept: KeptModules | None = None
    """Where results are kept from build to build; None where they are not."""
    done: dict[str, ModuleResult] = field(default_factory=dict)
    """By the module's key."""
    twins: frozenset[str] = frozenset()
    """Keys of modules of ranks that repeat another one but for names, ids and notes."""

    def results(self) -> Iterator[ModuleResult]:
        """Yield each result that was not yet waited for, as they come."""
        waiting = [task for task in self.tasks if task.item.key not in self.done]
        for task in completed(waiting):
            result = self.done[task.item.key] = task.result()
            self.progress(_READING, len(self.done), len(self.tasks))
            yield result

    def in_order(self) -> list[ModuleResult]:
        """Return all results in the order of the modules."""
        for _ in self.results():
            pass
        return [self._result(module) for module in self.grouped.modules]

    def _result(self, module: ModuleFiles) -> ModuleResult:
        if module.key not in self.again:
            return self.done[module.key]
        original, copies = self.again[module.key]
        texts = copies.result() if copies else ()
        identical = module.key not in self.twins
        return duplicate_result(self.done[original.key], module, texts, identical=identical)


def build(
    dump: str | Path,
    options: BuildOptions,
    progress: ProgressCallback = silent,
    mkdocs_worker: MkdocsWorker | None = None,
) -> Built:
    """Read a dump and write its site; raises XlareportError before anything is replaced.

    The dump is a path, a URL, or `-` for standard input. `mkdocs_worker` is one that
    was started early, if any.
    """
    folder = Folder(options.out)
    check_apart(dump, folder.out, folder.replaced())
    try:
        with rare_collections(), WorkerPool(options.jobs) as workers, folder.locked():
            folder.prepare()
            return _build(dump, options, workers, mkdocs_worker, progress)
    except OSError as error:
        raise UnwritableOutputError(options.out, error) from error


def _build(
    dump: str | Path,
    options: BuildOptions,
    workers: WorkerPool,
    mkdocs_worker: MkdocsWorker | None,
    progress: ProgressCallback,
) -> Built:
    with open_source(dump, options.limits) as source, LayoutPool(options.jobs) as pool:
        renderer = Renderer(pool, Folder(options.out).cache, progress)
        reading = begin_reading(source, options, workers, progress, pages=True)
        faulty: set[Place] = set()
        early = note_faulty(
            renderer.draw(early_requests(reading.results(), options.pictures)), faulty
        )
        drawn = list(picture_files(early))
        analyzed = analyze(reading, options.limits)
        outputs = [result.output for result in reading.in_order()]
        report = build_report(analyzed, relate_modules(analyzed), options.marker)
        faults = Faults(analyzed.name)
        picture = None
        if options.pictures != "none":
            draw = partial(program_picture, report)
            picture = faults.attempt("The picture of the program", draw, None)
        wanted, others = part_requests(outputs, report, options.pictures)
        program = [picture] if picture else []
        late = renderer.draw([*wanted, *program])
        drawn += picture_files(chain(note_faulty(late, faulty), left_out(others, options.pictures)))
        if reading.kept is not None:
            keep_all_pictures(reading.kept, reading.done.values(), dict(drawn), faulty)
        again = renderer.again([*main_requests(outputs, report), *program])
        take_compiled((mkdocs_worker and mkdocs_worker.prepared) or {})
        nightly = read_nightly(report, options.history, options.out) if options.history else None
        former = chain.from_iterable(output.drawn or () for output in outputs)
        pictures = chain({**dict(former), **dict(drawn)}.items(), plain_files(again))
        site = SiteInput(analyzed, outputs, report, pictures, picture, nightly)
        files = site_files(site, workers, faults)
        write_sources(options.out, files, title=options.title)
    message = ""
    if options.html:
        progress(_BUILDING, 0, 1)
        message = build_site(
            options.out, strict=False, workers=workers, mkdocs_worker=mkdocs_worker
        )
        progress(_BUILDING, 1, 1)
    if options.history and nightly:
        append_night(options.history, nightly.nights[-1], options.keep)
    return Built(with_problems(report, faults.problems), message)


def read_report(
    dump: str | Path, options: BuildOptions, progress: ProgressCallback = silent
) -> ReportRecord:
    """Read a dump and return the facts of its report, without writing anything."""
    with open_source(dump, options.limits) as source:
        return _report(source, options, progress)


def read_one_module(
    dump: str | Path, wanted: str | None, options: BuildOptions, progress: ProgressCallback = silent
) -> ParsedModule:
    """Read one module, named by key, slug or name; the main program where None is wanted."""
    with open_source(dump, options.limits) as source:
        return _one_of(source, wanted, options, progress)


def read_profiled_module(
    dump: str | Path, wanted: str | None, options: BuildOptions, progress: ProgressCallback = silent
) -> tuple[ParsedModule, ModuleTimes | None]:
    """Read one module as `read_one_module` does, and what profilers saw of it, None if nothing."""
    with open_source(dump, options.limits) as source:
        module = _one_of(source, wanted, options, progress)
        watched = read_profiles(source, options.profiles, options.limits, progress)
    return module, watched.modules.get(module.files.name)


def _one_of(
    source: Source, wanted: str | None, options: BuildOptions, progress: ProgressCallback
) -> ParsedModule:
    modules = group_source(source)[1].modules
    if wanted is None:
        wanted = _main_program(source, options, progress)
    module = read_module(find_module(modules, wanted, source.name))
    if not module.snapshots:
        raise UnreadableInputError(f"No snapshot of {module.files.key} could be read.")
    return module


def _report(source: Source, options: BuildOptions, progress: ProgressCallback) -> ReportRecord:
    with WorkerPool(options.jobs) as workers:
        reading = begin_reading(source, options, workers, progress, pages=False)
        analyzed = analyze(reading, options.limits)
    return build_report(analyzed, relate_modules(analyzed), options.marker)


def _replays(
    results: Sequence[ReplayResult], grouped: GroupedDump, same: Mapping[str, ModuleFiles]
) -> dict[str, ReplayResult]:
    """Return the results by the keys of their modules; raises UnreadableInputError."""
    known = {module.key for module in grouped.modules}
    replays: dict[str, ReplayResult] = {}
    for result in results:
        if result.module not in known:
            raise UnreadableInputError(f"--replay names {result.module}, which the dump has not.")
        original = same.get(result.module)
        replays[original.key if original is not None else result.module] = result
    return replays


def _main_program(source: Source, options: BuildOptions, progress: ProgressCallback) -> str:
    report = _report(source, options, progress)
    if report.main is None:
        raise UnreadableInputError(f"{source.name} holds no module that could be read.")
    return report.main.module


def begin_reading(
    source: Source,
    options: BuildOptions,
    workers: WorkerPool,
    progress: ProgressCallback,
    *,
    pages: bool,
) -> DumpReading:
    """Have every module read and analysed; `pages` makes payloads and drawings as well."""
    artifacts, grouped = group_source(source)
    grouped = keep_slugs(grouped, options.history)
    watched = read_profiles(source, options.profiles, options.limits, progress)
    repeated = find_duplicates(grouped.modules)
    twins = find_rank_twins([each for each in grouped.modules if each.key not in repeated])
    same = {**repeated, **twins}
    own = [module for module in grouped.modules if module.key not in same]
    replays = _replays(options.replays, grouped, same)
    progress(_READING, 0, len(own))
    kept = keep_in(Folder(options.out).cache, options.cache_bytes) if pages else None
    work = partial(
        kept.process if kept else process_module, pictures=options.pictures if pages else None
    )
    total = sum(module.bytes for module in own)
    tasks = [
        workers.submit(
            partial(
                work,
                options=_analysis_options(
                    options, watched.modules.get(module.name), replays.get(module.key), pages=pages
                ),
                processes=share_processes(module.bytes, total, workers.jobs),
            ),
            module,
            _process_died,
        )
        for module in sorted(own, key=lambda module: module.bytes, reverse=True)
    ]
    again = {
        module.key: (
            same[module.key],
            workers.submit(duplicate_texts, module, duplicate_texts) if pages else None,
        )
        for module in grouped.modules
        if module.key in same
    }
    name = options.name or source.name
    return DumpReading(
        *(source, name, artifacts, grouped, tasks, again, watched, progress, workers, kept),
        twins=frozenset(twins),
    )


def _analysis_options(
    options: BuildOptions, times: ModuleTimes | None, replay: ReplayResult | None, *, pages: bool
) -> AnalysisOptions:
    return AnalysisOptions(
        marker=compile_marker(options.marker) if options.marker else None,
        cost_options=options.cost_options,
        times=times,
        replay=replay,
        ptxas=_kept_ptxas(options, pages=pages),
    )


def _kept_ptxas(options: BuildOptions, *, pages: bool) -> Ptxas | None:
    """Return the assembler; a build keeps its messages for the next one, a mere reading nothing."""
    if options.ptxas is None or not pages:
        return options.ptxas
    return replace(options.ptxas, cache=Folder(options.out).cache / "ptxas")


def analyze(reading: DumpReading, limits: Limits = LIMITS) -> AnalyzedDump:
    """Wait for all modules and read the files that belong to none of them."""
    modules = [result.analysis for result in reading.in_order()]
    summaries = [module.summary for module in modules]
    originals = {key: reading.again[key][0].key for key in reading.twins}
    differences, uncompared = compare_ranks(summaries, reading.grouped, reading.workers, originals)
    others, watched = reading.grouped.others, reading.watched
    graphs, problems = read_graphs(others, limits)
    reasons, unread = read_reasons(others, limits) if graphs else ({}, ())
    modules, unreadable = add_logged_facts(modules, others, limits)
    unjoined = list_unjoined(watched, {module.name for module in reading.grouped.modules})
    side_files = {graph.path: "read: clusters and links come from it" for graph in graphs}
    side_files |= dict.fromkeys(watched.read, "read: measured times come from it")
    return AnalyzedDump(
        name=reading.name,
        artifacts=tuple(reading.artifacts),
        grouped=reading.grouped,
        problems=(
            *(*reading.source.problems, *problems, *watched.problems),
            *(*unjoined, *unread, *unreadable, *uncompared),
        ),
        modules=tuple(assign_profiles(modules, watched.modules)),
        graphs=graphs,
        reasons=reasons,
        side_files=side_files,
        rank_differences=differences,
    )


def _process_died(module: ModuleFiles) -> ModuleResult:
    reason = "the process that read it died, perhaps out of memory"
    return ModuleResult(unreadable_module(module, reason))
