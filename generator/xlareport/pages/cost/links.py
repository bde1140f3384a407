"""Which pages on what a module costs there are, as its record tells."""

from collections.abc import Iterator

from xlareport.pages import navigation
from xlareport.records.report import ModuleRecord


def cost_sources(module: ModuleRecord) -> Iterator[tuple[str, str]]:
    """Yield label and source of each: cost always, others where anything is known."""
    expense = module.expense
    if expense is None:
        return
    yield "Cost", navigation.expense_page(module.slug)
    memory = expense.memory
    if memory.spaces or memory.at_peak or memory.estimated_peak_bytes is not None:
        yield "Memory", navigation.memory_page(module.slug)
    if expense.lines:
        yield "Source", navigation.source_page(module.slug)
    if module.measured is not None:
        yield "Time", navigation.measured_page(module.slug)


def cost_addresses(module: ModuleRecord, page: str) -> dict[str, str]:
    """Return their addresses as links from another page, by label."""
    return {label: navigation.address(source, page) for label, source in cost_sources(module)}


def devices_of(module: ModuleRecord) -> int:
    """Return how many devices do so much each as the figures say; 1 where that is not known."""
    return module.expense.devices if module.expense is not None else 1
