"""The pages on what a module costs: which there are, with their templates and tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xlareport.analysis.clock.measured import Measured
from xlareport.analysis.expense import Expense
from xlareport.pages import navigation
from xlareport.pages.expense import expense_page
from xlareport.pages.expense_links import expense_sources
from xlareport.pages.expense_memory import memory_page
from xlareport.pages.expense_memory_tables import memory_tables
from xlareport.pages.expense_source import source_page, source_tables
from xlareport.pages.expense_tables import expense_tables
from xlareport.pages.findings import FindingsView
from xlareport.pages.measured import measured_page, measured_tables
from xlareport.pages.tables import Table
from xlareport.pages.views import ModuleView


@dataclass(frozen=True, slots=True)
class MadePage:
    """One page before it is rendered."""

    source: str
    """Relative to site_src/."""
    template: str
    title: str
    page: Any
    tables: Mapping[str, Table]


def expense_pages(
    view: ModuleView, cost: Expense, found: FindingsView, clock: Measured | None = None
) -> Iterator[MadePage]:
    """Yield the pages of one module; those beside that on its work only where there is any."""
    name, slug = view.name, view.slug
    there = dict(expense_sources(view))
    others = {one: [pair for pair in there.items() if pair[0] != one] for one in there}
    yield MadePage(
        navigation.expense_page(slug),
        "expense",
        f"Cost of {name}",
        expense_page(view, cost, found, others["Cost"]),
        expense_tables(view, cost),
    )
    if "Memory" in there:
        yield MadePage(
            navigation.memory_page(slug),
            "expense_memory",
            f"Memory of {name}",
            memory_page(view, cost.memory, cost.totals.devices, others["Memory"]),
            memory_tables(view, cost.memory),
        )
    if "Source" in there:
        yield MadePage(
            navigation.source_page(slug),
            "expense_source",
            f"Source of {name}",
            source_page(view, cost.source, cost.seconds, others["Source"]),
            source_tables(view, cost.source, cost.seconds),
        )
    if "Time" in there and clock is not None:
        yield MadePage(
            navigation.measured_page(slug),
            "measured",
            f"Time of {name}",
            measured_page(view, clock, others["Time"]),
            measured_tables(view, clock),
        )
