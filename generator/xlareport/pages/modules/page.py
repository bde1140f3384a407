"""The table of all modules."""

from collections.abc import Callable

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.dump import FileTotals
from xlareport.pages import words
from xlareport.pages.home.page import ModuleRow, row
from xlareport.pages.long_tables import PAGE, MadeRows, TableRow
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Cell, Column, Table
from xlareport.records.module_outline import ModuleOutline
from xlareport.records.report import ReportRecord


class ModulesPage(Struct, frozen=True):
    """Everything on the page."""

    lead: Markup
    table: Table


def modules_page(report: ReportRecord, table: Table) -> ModulesPage:
    """Make the page from the report's records and its table."""
    return ModulesPage(prose(f"{words.lead(report)} {words.many(report)}"), table)


class _Module(Struct, frozen=True):
    """A module with all that a row shows of it."""

    outline: ModuleOutline
    short: ModuleRow
    files: int
    size: int


_CELLS: tuple[tuple[Column, Callable[[_Module], Cell]], ...] = (
    (Column("Id", "int", "XLA's module id; ids have gaps"), lambda module: module.outline.id),
    (
        Column("Module", "link"),
        lambda module: [words.short_name(module.outline.name), module.short.address],
    ),
    (Column("Role"), lambda module: module.outline.role),
    (Column("Instructions before", "int"), lambda module: module.short.first),
    (Column("Instructions after", "int"), lambda module: module.short.last),
    (Column("Steps with changes", "int"), lambda module: module.short.changed),
    (
        Column("FLOPs", "flops", "per execution, loops multiplied by trip count"),
        lambda module: module.outline.final.flops,
    ),
    (Column("Files", "int"), lambda module: module.files),
    (Column("Size", "bytes"), lambda module: module.size),
    (
        Column("Rank", "int", "1 is the most likely main program"),
        lambda module: module.outline.rank,
    ),
)
"""The columns, each with its cell; the last one is sorted by."""


def modules_table(report: ReportRecord, files: FileTotals) -> Table:
    """Return the table of modules; `files` are the totals of the files of each module."""
    modules = report.outlines
    places = sorted(range(len(modules)), key=lambda place: modules[place].rank)

    def ranked(number: int) -> TableRow:
        return row_at(places[number])

    def row_at(place: int) -> TableRow:
        outline = modules[place]
        shown = _Module(outline, row(outline), files.counts[place], files.bytes[place])
        return [cell(shown) for _, cell in _CELLS]

    in_order = [row_at(place) for place in range(min(PAGE, len(modules)))]
    rows = MadeRows(len(places), ranked) if len(places) > PAGE else in_order
    columns = tuple(column for column, _ in _CELLS)
    return Table(columns, rows, sort=(len(columns) - 1, "asc"), empty="No modules in this dump.")
