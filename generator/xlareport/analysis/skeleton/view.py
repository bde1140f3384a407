"""The skeleton as the page of a module shows it: lines of words, small enough to travel."""

from collections.abc import Sequence

from msgspec import Struct

from xlareport.analysis.skeleton.items import Skeleton, SkeletonItem
from xlareport.analysis.skeleton.skeleton_folds import fold
from xlareport.analysis.skeleton.skeleton_text import line_parts, skeleton_head, time_words
from xlareport.runtime.graphs import descend

_MOST_LINES = 120


class SkeletonRow(Struct, frozen=True):
    """A line of the outline."""

    depth: int
    time: str
    kind: str
    """The kind of its items if all have the same; else empty."""
    before: str
    name: str
    """An instruction; empty where the line names none."""
    after: str


class SkeletonView(Struct, frozen=True):
    """The outline of one module."""

    head: tuple[str, ...]
    """Sentences on the order and the times."""
    rows: tuple[SkeletonRow, ...]
    items: int
    """Before folding."""
    is_scheduled: bool


def view_skeleton(skeleton: Skeleton) -> SkeletonView:
    """Return the outline, folded to a few screens."""
    rows: list[SkeletonRow] = []
    for line in fold(skeleton.items, _MOST_LINES):
        kinds = {item.kind for item in line.items}
        kind = kinds.pop() if len(kinds) == 1 else ""
        rows.append(SkeletonRow(line.depth, time_words(line), kind, *line_parts(line)))
    return SkeletonView(
        head=tuple(skeleton_head(skeleton))[1:],
        rows=tuple(rows),
        items=sum(1 for _ in descend(skeleton.items, _items_inside)),
        is_scheduled=skeleton.is_scheduled,
    )


def _items_inside(item: SkeletonItem) -> Sequence[SkeletonItem]:
    """Return the items inside of one; an asynchronous one counts with what it runs."""
    return () if item.is_async else item.children
