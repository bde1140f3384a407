"""The pages of modules with their tables: every file that needs the module's part in the whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlareport.analysis.expense import Expense
from xlareport.pages import navigation
from xlareport.pages.code import code_page
from xlareport.pages.expense_pages import expense_pages
from xlareport.pages.findings import MOST_ON_ITS_OWN_PAGE, module_findings
from xlareport.pages.glance import glance_tables
from xlareport.pages.module_page import module_page, module_tables
from xlareport.pages.module_work import ModuleResult
from xlareport.pages.rendering import render
from xlareport.pages.steps import steps_page
from xlareport.pages.tables import table_file
from xlareport.pages.texts import texts_page
from xlareport.pages.texts_payload import has_texts
from xlareport.pages.twins import twin_page
from xlareport.pages.views import ModuleView

File = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ModuleToShow:
    """A module, and the slugs of those before and after it."""

    result: ModuleResult
    view: ModuleView
    previous: str | None
    following: str | None


def module_files(asked: Sequence[ModuleToShow]) -> list[File]:
    """Return the files of the pages of some modules, but not the payloads that are made before."""
    return [file for one in asked for file in _files(one)]


def _files(asked: ModuleToShow) -> Iterator[File]:
    if asked.result.same_as is None:
        yield from _own_files(asked)
        return
    view, neighbours = asked.view, (asked.previous, asked.following)
    page = twin_page(view, asked.result.same_as, neighbours)
    yield navigation.module_page(view.slug), render("twin", page, view.name, search=False)
    for key, table in module_tables(view, asked.result.summary).items():
        yield table_file(key, table)


def _own_files(asked: ModuleToShow) -> Iterator[File]:
    result, view = asked.result, asked.view
    page = module_page(
        view,
        result.summary,
        result.pictures,
        (asked.previous, asked.following),
        glance=result.glance,
        code=result.code,
        found=module_findings(result, view, navigation.module_page(view.slug)),
    )
    source = navigation.module_page(view.slug)
    yield source, render("module", page, view.name, search=False)
    for key, table in module_tables(view, result.summary).items():
        yield table_file(key, table)
    if view.steps:
        steps = steps_page(view)
        source = navigation.steps_page(view.slug)
        yield source, render("steps", steps, f"Steps of {view.name}", search=False, wide=True)
    if has_texts(result.summary.files):
        texts = texts_page(view)
        source = navigation.texts_page(view.slug)
        yield source, render("texts", texts, f"Texts of {view.name}", search=False, wide=True)
    if page.glance and result.glance:
        for key, table in glance_tables(page.glance, result.glance):
            yield table_file(key, table)
    if result.expense:
        yield from _expense_files(result, result.expense, view)
    if result.code:
        source = navigation.code_page(view.slug)
        code = code_page(view, result.code)
        yield source, render("code", code, f"Code of {view.name}", search=False, wide=True)


def _expense_files(result: ModuleResult, cost: Expense, view: ModuleView) -> Iterator[File]:
    source = navigation.expense_page(view.slug)
    found = module_findings(result, view, source, most=MOST_ON_ITS_OWN_PAGE)
    for one in expense_pages(view, cost, found, result.clock):
        yield one.source, render(one.template, one.page, one.title, search=False)
        for key, table in one.tables.items():
            yield table_file(key, table)
