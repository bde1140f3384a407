"""The parts of a module's page, a tab for each, and the head that leads to them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xlareport.analysis.cost_report.report import CostReport
from xlareport.analysis.module import ModuleAnalysis
from xlareport.pages import navigation, words
from xlareport.pages.code.page import code_page
from xlareport.pages.cost.page import cost_sources, expense_page
from xlareport.pages.cost.tables import expense_tables
from xlareport.pages.findings.section import MOST_ON_ITS_OWN_PAGE, module_findings
from xlareport.pages.memory.page import memory_page
from xlareport.pages.memory.tables import memory_tables
from xlareport.pages.profile.page import measured_page, measured_tables
from xlareport.pages.source.page import source_page, source_tables
from xlareport.pages.steps.page import steps_page
from xlareport.pages.tables import Table
from xlareport.pages.texts.page import has_texts, texts_page
from xlareport.records.report import ModuleRecord


@dataclass(frozen=True, slots=True)
class ModulePart:
    """One part that is not made yet, so that a fault in one costs no other."""

    label: str
    """Of its tab."""
    source: str
    """Its address, `m/x.md?cost`."""
    template: str
    page: Callable[[], Any]
    """Makes the record that the template shows."""
    tables: Callable[[], Mapping[str, Table]] = dict
    """Makes its tables, by the keys of their payloads."""
    wide: bool = False
    """Whether it takes the room of the sidebars."""


def module_parts(record: ModuleRecord, module: ModuleAnalysis) -> Iterator[ModulePart]:
    """Yield the parts of a module that there are, in the order of their tabs."""
    slug, code, profile = record.slug, module.code, module.clock
    if record.steps:
        source = navigation.steps_page(slug)
        yield ModulePart("Steps", source, "steps", lambda: steps_page(record), wide=True)
    if module.expense:
        yield from _cost_parts(record, module, module.expense)
    if code:
        source = navigation.code_page(slug)
        yield ModulePart("Code", source, "code", lambda: code_page(record, code), wide=True)
    if has_texts(module.summary.files):
        source = navigation.texts_page(slug)
        yield ModulePart("Texts", source, "texts", lambda: texts_page(record), wide=True)
    if profile and module.expense and record.measured:
        yield ModulePart(
            "Time",
            navigation.measured_page(slug),
            "measured",
            lambda: measured_page(record, profile),
            lambda: measured_tables(record, profile),
        )


def _cost_parts(
    record: ModuleRecord, module: ModuleAnalysis, cost: CostReport
) -> Iterator[ModulePart]:
    """Yield the parts on cost, memory and source."""
    sources = dict(cost_sources(record))
    source = navigation.expense_page(record.slug)
    yield ModulePart(
        "Cost",
        source,
        "expense",
        lambda: expense_page(
            record, cost, module_findings(module, record, source, most=MOST_ON_ITS_OWN_PAGE)
        ),
        lambda: expense_tables(record, cost),
    )
    if "Memory" in sources:
        yield ModulePart(
            "Memory",
            sources["Memory"],
            "expense_memory",
            lambda: memory_page(record, cost.memory, cost.totals.devices),
            lambda: memory_tables(record, cost.memory),
        )
    if "Source" in sources:
        yield ModulePart(
            "Source",
            sources["Source"],
            "expense_source",
            lambda: source_page(record, cost.source, cost.seconds),
            lambda: source_tables(record, cost.source, cost.seconds),
        )


@dataclass(frozen=True, slots=True)
class Tab:
    """The way to the overview, or to a part of the page."""

    label: str
    address: str
    part: str
    """Its name behind `?` in the address; empty for the overview."""


@dataclass(frozen=True, slots=True)
class ModuleHead:
    """The head of a module's page."""

    name: str
    key: str
    """What the payload keys of its parts begin with."""
    tabs: tuple[Tab, ...]
    """The overview first; alone for a module that repeats another one."""
    previous: str | None
    """The address of the module before, None for the first."""
    next: str | None


def module_head(
    record: ModuleRecord, parts: Iterable[ModulePart], neighbours: tuple[str | None, str | None]
) -> ModuleHead:
    """Make the head of one page; `neighbours` are the slugs of the modules before and after."""
    page = navigation.module_page(record.slug)
    sources = [("Overview", page), *((part.label, part.source) for part in parts)]
    return ModuleHead(
        name=words.short_name(record.name),
        key=navigation.part_key(page),
        tabs=tuple(
            Tab(label, navigation.address(source, page), navigation.part_name(source))
            for label, source in sources
        ),
        previous=navigation.neighbour(neighbours[0], page),
        next=navigation.neighbour(neighbours[1], page),
    )
