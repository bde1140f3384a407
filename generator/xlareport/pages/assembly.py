"""The files of the site: pages from templates, payloads, pictures, report.json."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from jinja2 import Environment

from xlareport.analysis.expense import Expense
from xlareport.analysis.glance import Glance
from xlareport.pages import coverage, lexicon, modules_page, navigation
from xlareport.pages.answers import tell
from xlareport.pages.code import code_page
from xlareport.pages.environment import environment, front_matter
from xlareport.pages.expense_pages import expense_pages
from xlareport.pages.facts import Analysed
from xlareport.pages.findings import MOST_ON_ITS_OWN_PAGE, home_findings, module_findings
from xlareport.pages.glance import glance_tables
from xlareport.pages.glossary import glossary_page, pass_names
from xlareport.pages.home import home_page
from xlareport.pages.module_page import module_page, module_tables
from xlareport.pages.module_work import ModuleResult
from xlareport.pages.names import instruction_names, names_page
from xlareport.pages.picture_look import picture_look
from xlareport.pages.pictures import picture_files
from xlareport.pages.program import LINKS_TABLE, links_table, program_page
from xlareport.pages.search_payload import search_front
from xlareport.pages.steps import steps_page
from xlareport.pages.tables import Table
from xlareport.pages.texts import texts_page
from xlareport.pages.texts_payload import has_texts
from xlareport.pages.trends import NIGHTS_TABLE, Nightly, nights_table, trends_page
from xlareport.pages.views import ModuleView, ReportView
from xlareport.payload import payload, payload_path
from xlareport.pictures.draw import PictureRequest, PictureResult
from xlareport.resources import resource

Neighbours = tuple[str | None, str | None]

File = tuple[str, str | bytes]
"""A path relative to site_src/ and the content."""


def site_files(
    analysed: Analysed,
    report: ReportView,
    drawn: Iterable[PictureResult],
    picture: PictureRequest | None,
    nightly: Nightly | None = None,
) -> Iterator[File]:
    """Yield every generated file of the site; `picture` is that of the whole program."""
    pages = _Pages(environment(resource("templates")))
    yield from _front(pages, analysed, report, nightly=nightly is not None)
    yield from _trends(pages, nightly) if nightly else ()
    program = program_page(report, analysed.graphs, analysed.reasons, picture)
    yield navigation.PROGRAM, pages.render("program", program, "Program")
    yield _table(LINKS_TABLE, links_table(report))
    slugs = [None, *(view.slug for view in report.modules), None]
    for place, (result, view) in enumerate(zip(analysed.results, report.modules, strict=True)):
        yield from _module_files(pages, result, view, (slugs[place], slugs[place + 2]))
    plain = {one.key for result in analysed.results for one in result.pictures}
    plain |= {picture.key} if picture else set()
    yield from picture_files(drawn, frozenset(plain))
    front = search_front(report, analysed.summaries, [one.scopes for one in analysed.results])
    yield payload_path(navigation.SEARCH), payload(navigation.SEARCH, front)
    look = navigation.PICTURE_LOOK
    yield payload_path(look), payload(look, picture_look())
    yield "report.json", json.dumps(asdict(report), indent=1) + "\n"


def _trends(pages: "_Pages", nightly: Nightly) -> Iterator[File]:
    """Yield the page of the nights with its table."""
    yield navigation.TRENDS, pages.render("trends", trends_page(nightly), "Over the nights")
    yield _table(NIGHTS_TABLE, nights_table(nightly.nights))


class _Pages:
    """Renders page records through the template of the same name."""

    def __init__(self, templates: Environment) -> None:
        self._templates = templates

    def render(self, template: str, page: Any, title: str, **front: bool) -> str:
        """Return the Markdown of a page."""
        made = self._templates.get_template(f"{template}.md.jinja")
        return made.render(page=page, front_matter=front_matter(title=title, **front))


def _front(
    pages: _Pages, analysed: Analysed, report: ReportView, *, nightly: bool
) -> Iterator[File]:
    """Yield the pages about the dump as a whole."""
    artifacts = analysed.dump.artifacts
    modules = analysed.dump.grouped.modules
    uses = {**coverage.file_uses(modules, _read_paths(analysed)), **analysed.beside}
    main = report.main.module if report.main else None
    found = home_findings(analysed, report)
    told = tell(report, analysed)
    home = home_page(report, analysed.settings_of(main), found, told, nightly=nightly)
    yield navigation.HOME, pages.render("home", home, "Home", wide=True)
    table = modules_page.modules_table(report, analysed.sizes)
    yield navigation.MODULES, pages.render("modules", modules_page.modules_page(report), "Modules")
    yield _table("modules", table)
    names = names_page(artifacts, modules, instruction_names(analysed.summaries))
    yield navigation.NAMES, pages.render("names", names, "Names")
    covered = coverage.coverage_page(
        report, artifacts, uses, coverage.passes_words(analysed.summaries)
    )
    yield navigation.COVERAGE, pages.render("coverage", covered, "Coverage", wide=True)
    yield _table(coverage.FILES_TABLE, coverage.files_table(artifacts, report, uses))
    yield _table(coverage.PROBLEMS_TABLE, coverage.problems_table(report.problems))
    named = pass_names(analysed.summaries)
    used = {opcode for one in analysed.summaries for opcode, _ in one.opcodes}
    yield navigation.GLOSSARY, pages.render("glossary", glossary_page(named, used), "Glossary")
    timed = {one.name for glance in _glances(analysed) for one in glance.passes}
    yield payload_path(lexicon.KEY), payload(lexicon.KEY, lexicon.lexicon({*named, *timed}))


def _glances(analysed: Analysed) -> Iterator[Glance]:
    yield from (one.glance for one in analysed.results if one.glance)


def _read_paths(analysed: Analysed) -> Iterator[str]:
    for one in analysed.results:
        yield from one.read
    yield from {one.path for one in analysed.graphs}


def _module_files(
    pages: _Pages, result: ModuleResult, view: ModuleView, neighbours: Neighbours
) -> Iterator[File]:
    page = module_page(
        view,
        result.summary,
        result.pictures,
        neighbours,
        glance=result.glance,
        code=result.code,
        found=module_findings(result, view, navigation.module_page(view.slug)),
    )
    source = navigation.module_page(view.slug)
    yield source, pages.render("module", page, view.name, search=False)
    for key, table in module_tables(view, result.summary).items():
        yield _table(key, table)
    if view.steps:
        steps = steps_page(view)
        source = navigation.steps_page(view.slug)
        yield source, pages.render("steps", steps, f"Steps of {view.name}", search=False, wide=True)
    if has_texts(result.summary.files):
        texts = texts_page(view)
        source = navigation.texts_page(view.slug)
        yield source, pages.render("texts", texts, f"Texts of {view.name}", search=False, wide=True)
    if page.glance and result.glance:
        for key, table in glance_tables(page.glance, result.glance):
            yield _table(key, table)
    if result.expense:
        yield from _expense_files(pages, result, result.expense, view)
    if result.code:
        source = navigation.code_page(view.slug)
        code = code_page(view, result.code)
        yield source, pages.render("code", code, f"Code of {view.name}", search=False, wide=True)
    yield from result.payloads


def _expense_files(
    pages: _Pages, result: ModuleResult, cost: Expense, view: ModuleView
) -> Iterator[File]:
    source = navigation.expense_page(view.slug)
    found = module_findings(result, view, source, most=MOST_ON_ITS_OWN_PAGE)
    for one in expense_pages(view, cost, found):
        yield one.source, pages.render(one.template, one.page, one.title, search=False)
        for key, table in one.tables.items():
            yield _table(key, table)


def _table(key: str, table: Table) -> File:
    return payload_path(key), payload(key, table.payload())
