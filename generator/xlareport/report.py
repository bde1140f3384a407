"""The one pipeline: a dump in, a report out. Read this first.

    path -> source -> files -> modules -> analyzed modules -> report -> pages -> site

The first half is in `dump_reading.py`. Workers read and analyze one module each; everything that a
worker returns is a value; `site/` writes the site.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

from msgspec import Struct

from xlareport.analysis.dump import relate_modules
from xlareport.analysis.profile.instruction_times import ModuleTimes
from xlareport.dump.grouping import group_source
from xlareport.dump.modules import find_module
from xlareport.dump.source import Source, local_path, open_source
from xlareport.dump_reading import DumpReading, ReadingOptions, analyze, begin_reading
from xlareport.module_work.kept_pages import open_kept_pages
from xlareport.module_work.module_pictures import (
    MOST_TOGETHER,
    ModuleDrawing,
    main_requests,
    part_requests,
)
from xlareport.module_work.tables import read_tables
from xlareport.pages.pictures.requests import PictureChoice, left_out, picture_files, plain_files
from xlareport.pages.program.picture import program_picture
from xlareport.pages.rendering.templates import prune_compiled, take_compiled
from xlareport.pages.site_files import SiteInput, site_files
from xlareport.pictures.draw import PictureRequest, Renderer
from xlareport.pictures.layout_pool import LayoutPool
from xlareport.program import ParsedModule, read_module
from xlareport.records.build import build_report, with_problems
from xlareport.records.report import ReportRecord, StoredRecords
from xlareport.runtime.errors import UnreadableInputError, UnwritableOutputError
from xlareport.runtime.faults import Faults
from xlareport.runtime.fleet import open_fleet
from xlareport.runtime.garbage_collection import give_back_large_blocks, rare_collections
from xlareport.runtime.progress import ProgressCallback, silent
from xlareport.runtime.worker_pool import WorkerPool, Workers
from xlareport.side_files import read_profiles
from xlareport.site.builder import MkdocsWorker, build_site
from xlareport.site.folder import Folder, check_apart
from xlareport.site.kept_site import open_kept_site
from xlareport.site.nights import append_night, read_nightly
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import TextFile
from xlareport.storage.spooled_values import SpooledValues

_BUILDING = "building the site"


class BuildOptions(ReadingOptions, frozen=True):
    """The caller's options, besides the dump."""

    jobs: int = 1
    title: str | None = None
    """The title in the head of every page; None for the one in the settings in OUT."""
    keep: int | None = None
    """How many nights are kept in the history; None keeps all."""
    scheduler: str | None = None
    """The cluster whose workers read the modules; None for processes of this machine."""
    html: bool = True
    """Run mkdocs; without it only its sources and report.json are written."""


class Built(Struct, frozen=True):
    """The result of a build, besides the site."""

    report: ReportRecord
    warnings: str
    """Warnings of MkDocs, usually on the user's own pages; empty if there are none."""


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
    read_tables()
    try:
        with (
            rare_collections(),
            WorkerPool(options.jobs) as workers,
            folder.locked(),
            _readers(dump, options, workers) as readers,
        ):
            give_back_large_blocks()
            folder.prepare()
            return _build(dump, options, (workers, readers), mkdocs_worker, progress)
    except OSError as error:
        raise UnwritableOutputError(options.out, error) from error


@contextmanager
def _readers(dump: str | Path, options: BuildOptions, workers: WorkerPool) -> Iterator[Workers]:
    """Return who reads modules: these processes, or the workers of a cluster."""
    if options.scheduler is None:
        yield workers
        return
    with open_fleet(options.scheduler, local_path(dump)) as fleet:
        yield fleet


def _build(
    dump: str | Path,
    options: BuildOptions,
    both: tuple[WorkerPool, Workers],
    mkdocs_worker: MkdocsWorker | None,
    progress: ProgressCallback,
) -> Built:
    workers, readers = both
    opened = open_source(dump, options.limits, in_place=readers.is_remote)
    with opened as source, LayoutPool(options.jobs) as pool:
        renderer = Renderer(pool, Folder(options.out).cache, progress)
        reading = begin_reading(source, options, readers, progress, pages=True)
        drawn = _read_and_draw(reading, renderer, options.pictures)
        analyzed = analyze(reading, options.limits)
        places = analyzed.summaries.key_places
        keep = StoredRecords(reading.folder, reading.resident, places).extend
        relations = relate_modules(analyzed)
        report = build_report(analyzed, relations, options.marker, keep)
        faults = Faults(analyzed.name)
        picture = None
        if options.pictures != "none":
            picture = faults.attempt(
                "The picture of the program", partial(program_picture, report), None
            )
        drawn.extend(_late_pictures(reading, report, renderer, picture, options.pictures))
        take_compiled((mkdocs_worker and mkdocs_worker.prepared) or {})
        nightly = read_nightly(report, options.history, options.out) if options.history else None
        payloads = chain.from_iterable(drawn)
        results = reading.kept_as if analyzed.modules is reading.analyses else ()
        shown = analyzed, relations, reading.outputs, report, payloads, picture, nightly, results
        site = SiteInput(*shown)
        kept = reading.work.kept
        files = site_files(site, workers, faults, open_kept_pages(kept))
        write_sources(options.out, files, title=options.title)
    message = ""
    pages = open_kept_site(kept.program, kept.store) if kept else None
    if options.html:
        progress(_BUILDING, 0, 1)
        message = build_site(
            options.out, strict=False, workers=workers, mkdocs_worker=mkdocs_worker, kept=pages
        )
        progress(_BUILDING, 1, 1)
    if pages:
        pages.prune()
        prune_compiled()
    if options.history and nightly:
        append_night(options.history, nightly.nights[-1], options.keep)
    return Built(with_problems(report, faults.problems), message)


def _read_and_draw(
    reading: DumpReading, renderer: Renderer, choice: PictureChoice
) -> SpooledValues[tuple[TextFile, ...]]:
    """Read all modules and return their payloads and pictures, those of some at a time."""
    drawn = SpooledValues[tuple[TextFile, ...]](reading.folder, reading.resident // MOST_TOGETHER)
    drawing = ModuleDrawing(renderer, choice, reading.work.kept)
    return drawn.extend(drawing.files(reading.results()))


def _late_pictures(
    reading: DumpReading,
    report: ReportRecord,
    renderer: Renderer,
    picture: PictureRequest | None,
    choice: PictureChoice,
) -> Iterator[tuple[TextFile, ...]]:
    """Yield the files of pictures that are selected or drawn by facts about all modules."""
    wanted, others = part_requests(reading.outputs, report, choice)
    program = [picture] if picture else []
    late = renderer.draw([*wanted, *program])
    again = renderer.again([*main_requests(reading.outputs, report), *program])
    drawn = picture_files(chain(late, left_out(others, choice)))
    yield tuple({**dict(drawn), **dict(plain_files(again))}.items())


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
    """Return one module as `read_one_module` does, and its profile, None if there is none."""
    with open_source(dump, options.limits) as source:
        module = _one_of(source, wanted, options, progress)
        watched = read_profiles(source, options.profiles, options.limits, progress)
    return module, watched.modules.get(module.files.name)


def _one_of(
    source: Source, wanted: str | None, options: BuildOptions, progress: ProgressCallback
) -> ParsedModule:
    modules = group_source(source).grouped.modules
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


def _main_program(source: Source, options: BuildOptions, progress: ProgressCallback) -> str:
    report = _report(source, options, progress)
    if report.main is None:
        raise UnreadableInputError(f"{source.name} holds no module that could be read.")
    return report.main.module
