"""The tab of a module's files, each with the parts of its name."""

from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.pages import navigation, words
from xlareport.pages.names.page import describe
from xlareport.pages.tables import Column, PartPage, Table
from xlareport.pages.texts.page import has_texts
from xlareport.pages.tokens import NameCells
from xlareport.records.report import ModuleRecord


class FilesPage(PartPage, frozen=True):
    """Everything on the tab."""

    texts_address: str | None
    """None where the module has no texts."""


def files_page(record: ModuleRecord, summary: ModuleSummary) -> FilesPage:
    """Return the tab of one module."""
    page = navigation.module_page(record.slug)
    texts = navigation.address(navigation.module_page(record.slug, "texts"), page)
    return FilesPage(
        name=words.short_name(record.name),
        slug=record.slug,
        tables={"files": files_table(summary)},
        texts_address=texts if has_texts(summary.files) else None,
    )


def files_table(summary: ModuleSummary) -> Table:
    """Return the table of the files."""
    columns = (
        Column("File", "name", "hover over a part for its meaning"),
        Column("Kind", of="kind"),
        Column("Kind"),
        Column("Size", "bytes"),
    )
    cells = NameCells()
    rows = [
        (
            cells.cell(artifact.name),
            artifact.name.kind,
            describe(artifact.name),
            artifact.entry.size,
        )
        for artifact in summary.files.artifacts
    ]
    return Table(columns, rows, meanings=cells.meanings)
