"""The pages of modules, their parts and tables: every file that needs the module's place in all."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from xlareport.analysis.cost_report.report import CostReport
from xlareport.analysis.module import ModuleAnalysis, place_of
from xlareport.dump.modules import ModuleFiles
from xlareport.pages import navigation
from xlareport.pages.code.page import code_page
from xlareport.pages.findings.section import MOST_ON_ITS_OWN_PAGE, FindingsView, module_findings
from xlareport.pages.module.cost_parts import ExpensePage, expense_pages
from xlareport.pages.module.duplicate import twin_page
from xlareport.pages.module.head import ModuleHead, module_head
from xlareport.pages.module.overview import glance_tables
from xlareport.pages.module.page import module_page, module_tables
from xlareport.pages.module.work import ModuleResult
from xlareport.pages.rendering.faulty import page_files, part_payloads
from xlareport.pages.rendering.templates import part_payload, render, take_compiled
from xlareport.pages.steps.page import steps_page
from xlareport.pages.tables import COLUMNS, Table, lean_payloads
from xlareport.pages.texts.page import texts_page
from xlareport.pages.texts.payload import has_texts
from xlareport.records.report import ModuleRecord
from xlareport.runtime.errors import Problem
from xlareport.runtime.faults import Faults
from xlareport.storage.payloads import Payload
from xlareport.storage.small_payloads import File, held, module_payloads


@dataclass(frozen=True, slots=True)
class ModuleToShow:
    """A module, and the slugs of those before and after it."""

    result: ModuleResult
    view: ModuleRecord
    previous: str | None
    following: str | None


@dataclass(frozen=True, slots=True)
class ModulesShown:
    """The files of the pages of some modules, and which of these pages could not be made."""

    files: list[File]
    problems: list[Problem]
    columns: dict[str, Payload]
    """Those of their tables, by their keys."""


def module_files(
    asked: Sequence[ModuleToShow], templates: Mapping[str, bytes] = MappingProxyType({})
) -> ModulesShown:
    """Return the files of the pages of some modules, with all of their small payloads.

    `templates` are compiled. A fault of ours in one of these pages costs that page.
    """
    take_compiled(templates)
    shown = ModulesShown([], [], {})
    for show in asked:
        faults = Faults(place_of(show.result.analysis.summary.files))
        result = list(_files(show, faults))
        shown.files.extend(each for each in result if not isinstance(each, Payload))
        payloads = {each.key: each for each in result if isinstance(each, Payload)}
        columns = {key: payloads.pop(key) for key in [*payloads] if key.startswith(f"{COLUMNS}/")}
        shown.columns.update(columns)
        together = partial(_payloads, show, payloads.values())
        shown.files.extend(faults.attempt_all("What its pages load", together))
        shown.problems.extend(faults.problems)
    return shown


def _payloads(asked: ModuleToShow, payloads: Iterable[Payload]) -> Iterator[File]:
    return module_payloads(
        navigation.small_key(asked.view.slug), (*held(asked.result.output.small), *payloads)
    )


def _files(asked: ModuleToShow, faults: Faults) -> Iterator[File | Payload]:
    module, view = asked.result.analysis, asked.view
    source = navigation.module_page(view.slug)
    head = module_head(view, module, (asked.previous, asked.following))
    if module.same_as is not None:
        twin = partial(_twin_page, asked, module.same_as, head)
        yield from page_files(faults, source, view.name, twin, head)
        return
    yield from page_files(faults, source, view.name, partial(_first_page, asked, head), head)
    if module.expense:
        yield from _expense_parts(module, module.expense, view, faults)
    for template, source, title, record in _wide_parts(module, view):
        wide = partial(_wide_part, template, source, title, record)
        yield from part_payloads(faults, source, title, wide)


def _wide_parts(
    module: ModuleAnalysis, record: ModuleRecord
) -> Iterator[tuple[str, str, str, Callable[[], Any]]]:
    """Yield template, source, title and the record's maker of parts without tables."""
    slug, name = record.slug, record.name
    if record.steps:
        steps = partial(steps_page, record)
        yield "steps", navigation.steps_page(slug), f"Steps of {name}", steps
    if has_texts(module.summary.files):
        texts = partial(texts_page, record)
        yield "texts", navigation.texts_page(slug), f"Texts of {name}", texts
    if module.code:
        code = partial(code_page, record, module.code)
        yield "code", navigation.code_page(slug), f"Code of {name}", code


def _wide_part(
    template: str, source: str, title: str, record: Callable[[], Any]
) -> Iterator[Payload]:
    yield part_payload(source, template, record(), title, wide=True)


def _twin_page(
    asked: ModuleToShow, original: ModuleFiles, head: ModuleHead
) -> Iterator[File | Payload]:
    module = asked.view
    page = twin_page(module, original, head)
    yield navigation.module_page(module.slug), render("twin", page, module.name, search=False)
    yield from _tables(module_tables(module, asked.result.analysis.summary))


def _first_page(asked: ModuleToShow, head: ModuleHead) -> Iterator[File | Payload]:
    module, record = asked.result.analysis, asked.view
    source = navigation.module_page(record.slug)
    page = module_page(
        record,
        module.summary,
        asked.result.output.pictures,
        head,
        glance=module.glance,
        code=module.code,
        findings=module_findings(module, record, source),
    )
    yield source, render("module", page, record.name, search=False)
    yield from _tables(module_tables(record, module.summary))
    if page.glance and module.glance:
        yield from _tables(dict(glance_tables(page.glance, module.glance)))


def _expense_parts(
    module: ModuleAnalysis, cost: CostReport, record: ModuleRecord, faults: Faults
) -> Iterator[Payload]:
    for expense_page in expense_pages(
        record, cost, partial(_all_findings, module, record), module.clock
    ):
        yield from part_payloads(
            faults, expense_page.source, expense_page.title, partial(_expense_part, expense_page)
        )


def _all_findings(module: ModuleAnalysis, record: ModuleRecord) -> FindingsView:
    source = navigation.expense_page(record.slug)
    return module_findings(module, record, source, most=MOST_ON_ITS_OWN_PAGE)


def _expense_part(expense_page: ExpensePage) -> Iterator[Payload]:
    yield part_payload(
        expense_page.source, expense_page.template, expense_page.page(), expense_page.title
    )
    yield from _tables(expense_page.tables())


def _tables(tables: Mapping[str, Table]) -> Iterator[Payload]:
    for key, table in tables.items():
        yield from lean_payloads(key, table)
