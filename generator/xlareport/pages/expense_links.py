"""Which pages on what a module costs there are, as its record tells."""

from collections.abc import Iterator

from xlareport.pages import navigation
from xlareport.records.report import ModuleView


def expense_sources(view: ModuleView) -> Iterator[tuple[str, str]]:
    """Yield label and source of each: cost always, others where anything is known."""
    expense = view.expense
    if expense is None:
        return
    yield "Cost", navigation.expense_page(view.slug)
    memory = expense.memory
    if memory.spaces or memory.at_peak or memory.estimated_peak_bytes is not None:
        yield "Memory", navigation.memory_page(view.slug)
    if expense.lines:
        yield "Source", navigation.source_page(view.slug)
    if view.measured is not None:
        yield "Time", navigation.measured_page(view.slug)


def expense_addresses(view: ModuleView, page: str) -> dict[str, str]:
    """Return their addresses as links from another page, by label."""
    return {label: navigation.address(source, page) for label, source in expense_sources(view)}


def devices_of(view: ModuleView) -> int:
    """Return how many devices do so much each as the figures say; 1 where that is not known."""
    return view.expense.devices if view.expense is not None else 1
