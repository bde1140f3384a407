"""Selects the snapshots of two compared modules that are shown side by side, with their texts."""

from typing import TypeAlias

from msgspec.structs import replace

from xlareport.analysis.compare.comparison import Comparison, Sketched
from xlareport.analysis.compare.divergence import Where
from xlareport.pages.compare.module_diff import DiffSide, DiffTask
from xlareport.records.stored_sketches import SketchedReport

Reports: TypeAlias = tuple[SketchedReport | None, SketchedReport | None]
"""Base and head if they are reports whose texts are not restored yet."""


def diff_task(
    comparison: Comparison, passes: tuple[tuple[str, int], ...], reports: Reports
) -> DiffTask | None:
    """Return the task to show two modules; None if they are equal, or one is missing.

    `passes` are those of `DiffTask`. Texts in a report are restored only as far as they are shown.
    """
    parted = comparison.divergence.where is not Where.NOWHERE
    if comparison.base is None or comparison.head is None or not (parted or not comparison.same):
        return None
    base, head = comparison.base, comparison.head
    if not base.snapshots or not head.snapshots:
        return None
    task = DiffTask(
        base=_diff_side(base),
        head=_diff_side(head),
        slug=head.summary.files.slug,
        divergence=comparison.divergence,
        inputs_differ=comparison.divergence.where in (Where.INPUT, Where.HEADER),
        ends_differ=not comparison.same,
        passes=passes,
    )
    ours, theirs = task.shown()
    return replace(
        task,
        base=_with_texts(task.base, reports[0], ours),
        head=_with_texts(task.head, reports[1], theirs),
    )


def _with_texts(side: DiffSide, report: SketchedReport | None, shown: frozenset[int]) -> DiffSide:
    if report is None:
        return side
    stages = [side.stages[number] for number in shown]
    return side.with_texts(report.restore(side.files.slug, stages))


def _diff_side(sketched: Sketched) -> DiffSide:
    return DiffSide(sketched.summary.files, sketched.stages, sketched.final)
