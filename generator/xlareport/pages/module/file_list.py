"""The tab of a module's files, each with the parts of its name."""

from collections.abc import Iterator

from markupsafe import Markup

from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.pages import navigation
from xlareport.pages.names.page import describe
from xlareport.pages.rendering.environment import href
from xlareport.pages.tables import Column, Table, tabulate
from xlareport.pages.tabs import ModuleTab, PlainTab, TabSection
from xlareport.pages.texts.page import has_texts
from xlareport.pages.token_views import NameCells
from xlareport.records.report import ModuleRecord


def files_page(record: ModuleRecord, summary: ModuleSummary) -> PlainTab:
    """Return the tab of one module."""
    return PlainTab(
        tables={"files": files_table(summary)},
        heading=TAB.label,
        sections=(TabSection("files"),),
        notes=("Every file of this module, with the parts of its name.", *_texts(record, summary)),
    )


TAB = ModuleTab("files", lambda shown: shown.analysis.summary, files_page, place=150)


def _texts(record: ModuleRecord, summary: ModuleSummary) -> Iterator[Markup]:
    """Yield the way to the texts of a module that has any."""
    if has_texts(summary.files):
        page = navigation.module_page(record.slug)
        texts = navigation.module_address(record.slug, "texts", seen_from=page)
        button = '<a class="md-button" href="{}">Browse HLO text of every snapshot</a>'
        yield Markup(button).format(href(texts))  # noqa: S704 - a constant


def files_table(summary: ModuleSummary) -> Table:
    """Return the table of the files."""
    cells = NameCells()
    return tabulate(
        summary.files.artifacts,
        {
            Column("File", "name", "hover over a part for its meaning"): lambda row: cells.cell(
                row.name
            ),
            Column("Kind", of="kind"): lambda row: row.name.kind,
            Column("Contents"): lambda row: describe(row.name),
            Column("Size", "bytes"): lambda row: row.entry.size,
        },
        meanings=cells.meanings,
    )
