"""The files of the site: pages from templates, payloads, pictures, report.json."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace

from xlareport.analysis.glance import Glance
from xlareport.pages import coverage, lexicon, modules_page, navigation
from xlareport.pages.answers import tell
from xlareport.pages.facts import Analysed
from xlareport.pages.findings import home_findings
from xlareport.pages.glossary import glossary_page, pass_names
from xlareport.pages.home import home_page
from xlareport.pages.module_files import ModuleToShow, module_files
from xlareport.pages.names import instruction_names, names_page
from xlareport.pages.picture_look import picture_look
from xlareport.pages.pictures import picture_files
from xlareport.pages.program import LINKS_TABLE, links_table, program_page
from xlareport.pages.rendering import render
from xlareport.pages.search_payload import search_front
from xlareport.pages.tables import table_file
from xlareport.pages.trends import NIGHTS_TABLE, Nightly, nights_table, trends_page
from xlareport.pages.views import ReportView
from xlareport.payload import payload, payload_path
from xlareport.pictures.draw import PictureRequest, PictureResult
from xlareport.workers import Crew, Errand

_TOGETHER = 50
"""Modules whose pages are made by one process at a time, at most."""

File = tuple[str, str | bytes]
"""A path relative to site_src/ and the content."""


def site_files(
    analysed: Analysed,
    report: ReportView,
    drawn: Iterable[PictureResult],
    picture: PictureRequest | None,
    crew: Crew,
    *,
    nightly: Nightly | None = None,
) -> Iterator[File]:
    """Yield every generated file of the site; `picture` is that of the whole program.

    Half of it are pages of modules, which the crew makes meanwhile.
    """
    errands = _begun(analysed, report, crew)
    yield from _front(analysed, report, nightly=nightly is not None)
    yield from _trends(nightly) if nightly else ()
    program = program_page(report, analysed.graphs, analysed.reasons, picture)
    yield navigation.PROGRAM, render("program", program, "Program")
    yield table_file(LINKS_TABLE, links_table(report))
    for result in analysed.results:
        yield from result.payloads
    plain = {one.key for result in analysed.results for one in result.pictures}
    plain |= {picture.key} if picture else set()
    yield from picture_files(drawn, frozenset(plain))
    for errand in errands:
        yield from errand.result()
    front = search_front(report, analysed.summaries, [one.scopes for one in analysed.results])
    yield payload_path(navigation.SEARCH), payload(navigation.SEARCH, front)
    look = navigation.PICTURE_LOOK
    yield payload_path(look), payload(look, picture_look())
    yield "report.json", json.dumps(asdict(report), indent=1) + "\n"


def _trends(nightly: Nightly) -> Iterator[File]:
    """Yield the page of the nights with its table."""
    yield navigation.TRENDS, render("trends", trends_page(nightly), "Over the nights")
    yield table_file(NIGHTS_TABLE, nights_table(nightly.nights))


def _begun(
    analysed: Analysed, report: ReportView, crew: Crew
) -> list[Errand[Sequence[ModuleToShow], list[tuple[str, str]]]]:
    """Have the pages of modules made, some at a time."""
    slugs = [None, *(view.slug for view in report.modules), None]
    asked = [
        ModuleToShow(
            replace(result, payloads=(), requests=()), view, slugs[place], slugs[place + 2]
        )
        for place, (result, view) in enumerate(zip(analysed.results, report.modules, strict=True))
    ]
    some = max(1, min(_TOGETHER, len(asked) // (4 * crew.jobs)))
    chunks = [asked[first : first + some] for first in range(0, len(asked), some)]
    return [crew.submit(module_files, chunk, module_files) for chunk in chunks]


def _front(analysed: Analysed, report: ReportView, *, nightly: bool) -> Iterator[File]:
    """Yield the pages about the dump as a whole."""
    artifacts = analysed.dump.artifacts
    modules = analysed.dump.grouped.modules
    uses = {**coverage.file_uses(modules, _read_paths(analysed)), **analysed.beside}
    main = report.main.module if report.main else None
    found = home_findings(analysed, report)
    told = tell(report, analysed)
    home = home_page(report, analysed.settings_of(main), found, told, nightly=nightly)
    yield navigation.HOME, render("home", home, "Home", wide=True)
    table = modules_page.modules_table(report, analysed.sizes)
    yield navigation.MODULES, render("modules", modules_page.modules_page(report), "Modules")
    yield table_file("modules", table)
    names = names_page(artifacts, modules, instruction_names(analysed.summaries))
    yield navigation.NAMES, render("names", names, "Names")
    covered = coverage.coverage_page(
        report, artifacts, uses, coverage.passes_words(analysed.summaries)
    )
    yield navigation.COVERAGE, render("coverage", covered, "Coverage", wide=True)
    yield table_file(coverage.FILES_TABLE, coverage.files_table(artifacts, report, uses))
    yield table_file(coverage.PROBLEMS_TABLE, coverage.problems_table(report.problems))
    named = pass_names(analysed.summaries)
    used = {opcode for one in analysed.summaries for opcode, _ in one.opcodes}
    yield navigation.GLOSSARY, render("glossary", glossary_page(named, used), "Glossary")
    timed = {one.name for glance in _glances(analysed) for one in glance.passes}
    yield payload_path(lexicon.KEY), payload(lexicon.KEY, lexicon.lexicon({*named, *timed}))


def _glances(analysed: Analysed) -> Iterator[Glance]:
    yield from (one.glance for one in analysed.results if one.glance)


def _read_paths(analysed: Analysed) -> Iterator[str]:
    for one in analysed.results:
        yield from one.read
    yield from {one.path for one in analysed.graphs}
