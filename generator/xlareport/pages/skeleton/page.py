"""The page of a module's static execution skeleton: an outline in the order of execution."""

from xlareport.analysis.skeleton.view import SkeletonRow, SkeletonView
from xlareport.pages.tables import PartPage
from xlareport.pages.tabs import ModuleTab
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units


class SkeletonPage(PartPage, frozen=True):
    """Everything on the page."""

    lead: str
    notes: tuple[str, ...]
    rows: tuple[SkeletonRow, ...]
    command: str
    """The command that prints all of it, and writes a trace."""


def skeleton_page(record: ModuleRecord, view: SkeletonView) -> SkeletonPage:
    """Return the page of one module."""
    folded = len(view.rows) < view.items
    lines = f" in {units.plural(len(view.rows), 'line')}" if folded else ""
    return SkeletonPage(
        tables={},
        lead=f"{units.plural(view.items, 'item')} in execution order{lines}."
        if view.is_scheduled
        else f"{units.plural(view.items, 'item')} in a topological order{lines}.",
        notes=view.head,
        rows=view.rows,
        command=f"xlareport skeleton DUMP --module {record.key} --trace trace.json",
    )


TAB = ModuleTab(
    "skeleton", lambda shown: shown.analysis.skeleton, skeleton_page, wide=True, place=80
)
