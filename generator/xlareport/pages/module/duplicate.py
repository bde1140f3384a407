"""The page of a module that repeats another one: it leads to that one."""

from xlareport.analysis.module import ModuleAnalysis
from xlareport.dump.modules import ModuleFiles
from xlareport.pages import navigation, words
from xlareport.pages.module.file_list import files_table
from xlareport.pages.module.head import ModuleHead
from xlareport.pages.module.page import module_tables
from xlareport.pages.tables import PartPage
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units


class DuplicatePage(PartPage, frozen=True):
    """Everything on the page of a module that repeats another one."""

    record: ModuleRecord
    head: ModuleHead
    sameness: str
    original_key: str
    original_address: str


def duplicate_page(
    record: ModuleRecord, original: ModuleFiles, head: ModuleHead, analysis: ModuleAnalysis
) -> DuplicatePage:
    """Make the page that leads to the original."""
    page = navigation.module_page(record.slug)
    return DuplicatePage(
        name=words.short_name(record.name),
        slug=record.slug,
        tables={"files": files_table(analysis.summary), **module_tables(analysis.summary)},
        record=record,
        head=head,
        sameness=_sameness(record, is_identical=analysis.is_identical),
        original_key=original.key,
        original_address=navigation.address(navigation.module_page(original.slug), page),
    )


def _sameness(record: ModuleRecord, *, is_identical: bool) -> str:
    files = units.plural(len(record.files), "file")
    if is_identical:
        return f"its {files} are byte-identical"
    return (
        f"its {files} differ from those of that rank in names, ids and notes only; the table of "
        "ranks names the first difference"
    )
