"""The table of all modules."""

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.dump import FileTotals
from xlareport.pages import navigation, words
from xlareport.pages.home.page import row
from xlareport.pages.long_tables import PAGE, MadeRows, TableRow
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Column, Table
from xlareport.records.outline import ModuleOutline
from xlareport.records.report import ReportRecord


class ModulesPage(Struct, frozen=True):
    """Everything on the page."""

    lead: Markup
    table: Table


def modules_page(report: ReportRecord, table: Table) -> ModulesPage:
    """Make the page from the report's records and its table."""
    return ModulesPage(prose(f"{words.lead(report)} {words.many(report)}"), table)


def modules_table(report: ReportRecord, files: FileTotals) -> Table:
    """Return the table of modules; `files` are the totals of the files of each module."""
    columns = (
        Column("Id", "int", "XLA's module id; ids have gaps"),
        Column("Module", "link"),
        Column("Role"),
        Column("Instructions before", "int"),
        Column("Instructions after", "int"),
        Column("Steps with changes", "int"),
        Column("FLOPs", "flops", "per execution, loops multiplied by trip count"),
        Column("Files", "int"),
        Column("Size", "bytes"),
        Column("Rank", "int", "1 is the most likely main program"),
    )
    modules = report.outlines
    places = sorted(range(len(modules)), key=lambda place: modules[place].rank)

    def ranked(number: int) -> TableRow:
        return row_at(places[number])

    def row_at(place: int) -> TableRow:
        return _row(modules[place], files.counts[place], files.bytes[place])

    in_order = [row_at(place) for place in range(min(PAGE, len(modules)))]
    rows = MadeRows(len(places), ranked) if len(places) > PAGE else in_order
    return Table(columns, rows, sort=(len(columns) - 1, "asc"), empty="No modules in this dump.")


def _row(
    module: ModuleOutline, files: int, size: int
) -> list[str | int | float | list[str] | None]:
    short = row(module)
    address = navigation.address(navigation.module_page(module.slug))
    return [
        module.id,
        [words.short_name(module.name), address],
        module.role,
        short.first,
        short.last,
        short.changed,
        module.final.flops,
        files,
        size,
        module.rank,
    ]
