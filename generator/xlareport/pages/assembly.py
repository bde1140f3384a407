"""The files of the site: pages from templates, payloads, pictures, report.json."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from xlareport.analysis.passes.overview import Overview
from xlareport.pages import navigation
from xlareport.pages.coverage import page as coverage
from xlareport.pages.facts import Analysed, with_problems
from xlareport.pages.findings.section import home_findings
from xlareport.pages.glossary import lexicon
from xlareport.pages.glossary.page import glossary_page, pass_names
from xlareport.pages.home.answers import tell
from xlareport.pages.home.page import home_page
from xlareport.pages.module.files import ModulesShown, ModuleToShow, module_files
from xlareport.pages.module_parts import Parts
from xlareport.pages.module_work import ModuleResult
from xlareport.pages.modules import page as modules_page
from xlareport.pages.names.page import instruction_names, names_page
from xlareport.pages.nightly.page import NIGHTS_TABLE, Nightly, nights_table, trends_page
from xlareport.pages.page_parts import page_files
from xlareport.pages.pictures.look import picture_look
from xlareport.pages.program.page import LINKS_TABLE, links_table, program_page
from xlareport.pages.rendering import compiled, render
from xlareport.pages.search.payload import search_front
from xlareport.pages.small_payloads import together
from xlareport.pages.tables import COLUMNS, table_file
from xlareport.pictures.draw import PictureRequest
from xlareport.records.report import ReportView
from xlareport.records.report_json import report_json
from xlareport.runtime.worker_pool import Task, WorkerPool
from xlareport.storage.payloads import Payload, payload_file

_TOGETHER = 50
"""Modules whose pages are made by one process at a time, at most."""

File = tuple[str, str | bytes]
"""A path relative to site_src/ and the content."""


def site_files(
    analysed: Analysed,
    report: ReportView,
    drawn: Iterable[File],
    picture: PictureRequest | None,
    workers: WorkerPool,
    *,
    parts: Parts,
    nightly: Nightly | None = None,
) -> Iterator[File]:
    """Yield every generated file of the site, those of the pictures that were `drawn` among them.

    `picture` is that of the whole program.

    Half of it are pages of modules, which workers make meanwhile. `parts` takes note of the pages
    that could not be made; the coverage page and report.json come last, and tell of these.
    """
    tasks = _begun(analysed, report, workers)
    yield from _front(analysed, report, picture, parts, nightly=nightly)
    for result in analysed.results:
        yield from result.payloads
    yield from drawn
    columns: dict[str, Payload] = {}
    for task in tasks:
        shown = task.result()
        parts.problems.extend(shown.problems)
        columns |= shown.columns
        yield from shown.files
    yield together(COLUMNS, columns.values())
    yield from parts.payloads("The search", partial(_search, analysed, report))
    look = navigation.PICTURE_LOOK
    yield payload_file(look, picture_look())
    covered = partial(_coverage, analysed, with_problems(report, parts.problems))
    yield from page_files(parts, navigation.COVERAGE, "Coverage", covered)
    whole = with_problems(report, parts.problems)
    yield "report.json", report_json(whole)


def _search(analysed: Analysed, report: ReportView) -> Iterator[File]:
    scopes = [one.scopes for one in analysed.results]
    front = search_front(report, analysed.summaries, scopes)
    yield payload_file(navigation.SEARCH, front)


def _trends(nightly: Nightly) -> Iterator[File]:
    """Yield the page of the nights with its table."""
    yield navigation.TRENDS, render("trends", trends_page(nightly), "Over the nights")
    yield table_file(NIGHTS_TABLE, nights_table(nightly.nights))


def _begun(
    analysed: Analysed, report: ReportView, workers: WorkerPool
) -> list[Task[Sequence[ModuleToShow], ModulesShown]]:
    """Have the pages of modules made, some at a time."""
    slugs = [None, *(view.slug for view in report.modules), None]
    main = report.main.module if report.main else None
    asked = [
        ModuleToShow(
            _to_show(result, is_main=view.key == main), view, slugs[place], slugs[place + 2]
        )
        for place, (result, view) in enumerate(zip(analysed.results, report.modules, strict=True))
    ]
    some = max(1, min(_TOGETHER, len(asked) // (4 * workers.jobs)))
    chunks = [asked[first : first + some] for first in range(0, len(asked), some)]
    made = partial(module_files, templates=compiled())
    return [workers.submit(made, chunk, made) for chunk in chunks]


def _to_show(result: ModuleResult, *, is_main: bool) -> ModuleResult:
    """Return what a page needs; only pictures of the main program are files of their own."""
    pictures = result.pictures
    if not is_main:
        pictures = tuple(replace(one, source="") for one in pictures)
    return replace(result, payloads=(), requests=(), pictures=pictures)


def _front(
    analysed: Analysed,
    report: ReportView,
    picture: PictureRequest | None,
    parts: Parts,
    *,
    nightly: Nightly | None,
) -> Iterator[File]:
    """Yield the pages about the dump as a whole, but that of what could not be read."""
    home = partial(_home, analysed, report, nightly=nightly is not None)
    program = partial(_program, analysed, report, picture)
    pages: list[tuple[str, str, Callable[[], Iterator[File]]]] = [
        (navigation.HOME, "Home", home),
        (navigation.MODULES, "Modules", partial(_modules, analysed, report)),
        (navigation.NAMES, "Names", partial(_names, analysed)),
        (navigation.GLOSSARY, "Glossary", partial(_glossary, analysed)),
        (navigation.PROGRAM, "Program", program),
    ]
    if nightly:
        pages.append((navigation.TRENDS, "Over the nights", partial(_trends, nightly)))
    for source, title, make in pages:
        yield from page_files(parts, source, title, make)


def _home(analysed: Analysed, report: ReportView, *, nightly: bool) -> Iterator[File]:
    main = report.main.module if report.main else None
    found = home_findings(analysed, report)
    told = tell(report, analysed)
    home = home_page(report, analysed.settings_of(main), found, told, nightly=nightly)
    yield navigation.HOME, render("home", home, "Home", wide=True)


def _modules(analysed: Analysed, report: ReportView) -> Iterator[File]:
    table = modules_page.modules_table(report, analysed.sizes)
    yield navigation.MODULES, render("modules", modules_page.modules_page(report), "Modules")
    yield table_file("modules", table)


def _names(analysed: Analysed) -> Iterator[File]:
    dump = analysed.dump
    used = instruction_names(analysed.summaries)
    names = names_page(dump.artifacts, dump.grouped.modules, used)
    yield navigation.NAMES, render("names", names, "Names")


def _glossary(analysed: Analysed) -> Iterator[File]:
    named = pass_names(analysed.summaries)
    used = {opcode for one in analysed.summaries for opcode, _ in one.opcodes}
    yield navigation.GLOSSARY, render("glossary", glossary_page(named, used), "Glossary")
    timed = {one.name for glance in _glances(analysed) for one in glance.passes}
    yield payload_file(lexicon.KEY, lexicon.lexicon({*named, *timed}))


def _program(
    analysed: Analysed, report: ReportView, picture: PictureRequest | None
) -> Iterator[File]:
    program = program_page(report, analysed.graphs, analysed.reasons, picture)
    yield navigation.PROGRAM, render("program", program, "Program")
    yield table_file(LINKS_TABLE, links_table(report))


def _coverage(analysed: Analysed, report: ReportView) -> Iterator[File]:
    artifacts = analysed.dump.artifacts
    read = coverage.file_uses(analysed.dump.grouped.modules, _read_paths(analysed))
    uses = {**read, **analysed.beside}
    passes = coverage.passes_words(analysed.summaries)
    covered = coverage.coverage_page(report, artifacts, uses, passes)
    yield navigation.COVERAGE, render("coverage", covered, "Coverage", wide=True)
    yield table_file(coverage.FILES_TABLE, coverage.files_table(artifacts, report, uses))
    yield table_file(coverage.PROBLEMS_TABLE, coverage.problems_table(report.problems))


def _glances(analysed: Analysed) -> Iterator[Overview]:
    yield from (one.glance for one in analysed.results if one.glance)


def _read_paths(analysed: Analysed) -> Iterator[str]:
    for one in analysed.results:
        yield from one.read
    yield from {one.path for one in analysed.graphs}
