"""The parts of a page on what the module costs: which there are, with templates and tables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xlareport.analysis.cost_report.report import CostReport
from xlareport.analysis.profile.measured import Measured
from xlareport.pages import navigation
from xlareport.pages.cost.page import expense_page
from xlareport.pages.cost.tables import expense_tables
from xlareport.pages.expense_links import expense_sources
from xlareport.pages.findings.section import FindingsView
from xlareport.pages.memory.page import memory_page
from xlareport.pages.memory.tables import memory_tables
from xlareport.pages.profile.page import measured_page, measured_tables
from xlareport.pages.source.page import source_page, source_tables
from xlareport.pages.tables import Table
from xlareport.records.report import ModuleRecord


@dataclass(frozen=True, slots=True)
class ExpensePage:
    """One page that is not made yet, so that a fault of one costs no other."""

    source: str
    """Relative to site_src/."""
    template: str
    title: str
    page: Callable[[], Any]
    tables: Callable[[], Mapping[str, Table]]


def expense_pages(
    module: ModuleRecord,
    cost: CostReport,
    value: Callable[[], FindingsView],
    clock: Measured | None = None,
) -> Iterator[ExpensePage]:
    """Yield the pages of one module; those beside that on its work only where there is any."""
    name, slug = module.name, module.slug
    there = dict(expense_sources(module))
    yield ExpensePage(
        navigation.expense_page(slug),
        "expense",
        f"Cost of {name}",
        lambda: expense_page(module, cost, value()),
        lambda: expense_tables(module, cost),
    )
    if "Memory" in there:
        yield ExpensePage(
            navigation.memory_page(slug),
            "expense_memory",
            f"Memory of {name}",
            lambda: memory_page(module, cost.memory, cost.totals.devices),
            lambda: memory_tables(module, cost.memory),
        )
    if "Source" in there:
        yield ExpensePage(
            navigation.source_page(slug),
            "expense_source",
            f"Source of {name}",
            lambda: source_page(module, cost.source, cost.seconds),
            lambda: source_tables(module, cost.source, cost.seconds),
        )
    if "Time" in there and clock is not None:
        yield ExpensePage(
            navigation.measured_page(slug),
            "measured",
            f"Time of {name}",
            lambda: measured_page(module, clock),
            lambda: measured_tables(module, clock),
        )
