"""The table of all modules of a comparison."""

from collections.abc import Sequence

from xlareport.analysis.steps.wording import plain
from xlareport.pages import navigation, words
from xlareport.pages.compare.figures import figures_differ
from xlareport.pages.compare.views import ComparedView, QuantityView
from xlareport.pages.tables import Column, Table

TABLE = "compared"
"""The payload key of the table."""
_ORDER = ("differs", "other figures", "new", "gone", "same code", "same figures", "identical")


def page_of(compared: ComparedView) -> str:
    """Return the address of a module's page from the first page."""
    return navigation.address(navigation.module_page(compared.slug))


def compared_table(modules: Sequence[ComparedView]) -> Table:
    """Return the table of all modules, what differs first."""
    columns = (
        Column("Module", "link"),
        Column("Result", "chip"),
        Column("Where they part"),
        Column("Instructions, base", "int"),
        Column("Instructions, head", "int"),
        Column("Memory, base", "bytes", "at the peak, else allocated"),
        Column("Memory, head", "bytes", "at the peak, else allocated"),
        Column("Paired", help="Why these two are held for the same module"),
    )
    rows = [
        _row(module)
        for module in sorted(modules, key=lambda module: _ORDER.index(_result(module)[0]))
    ]
    return Table(columns, rows, empty="Neither of both holds a module.")


def _row(compared: ComparedView) -> list[str | int | float | list[str] | None]:
    figures = {each.name: each for each in compared.figures}
    size, memory = figures.get("instructions"), _memory(figures)
    name = words.short_name(compared.name)
    return [
        [name, page_of(compared)] if compared.has_page else name,
        list(_result(compared)),
        plain(compared.divergence.sentence) if not compared.identical else "",
        size.base if size else None,
        size.head if size else None,
        memory.base if memory else None,
        memory.head if memory else None,
        f"{compared.paired} ({compared.grade})",
    ]


def _memory(figures: dict[str, QuantityView]) -> QuantityView | None:
    names = ("live_peak_bytes", "allocated_bytes")
    return next((figures[name] for name in names if name in figures), None)


def _result(compared: ComparedView) -> tuple[str, str]:
    """Return a word and its look."""
    if compared.base is None:
        return "new", "xr-added"
    if compared.head is None:
        return "gone", "xr-removed"
    if compared.bare:
        return (
            ("other figures", "xr-changed")
            if figures_differ(compared)
            else ("same figures", "xr-same")
        )
    if compared.identical:
        return "identical", "xr-same"
    return ("same code", "xr-same") if compared.same else ("differs", "xr-changed")
