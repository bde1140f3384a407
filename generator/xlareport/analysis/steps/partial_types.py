"""Products that were split into parts of another element type, in which the parts are summed."""

from collections.abc import Iterable

from msgspec.structs import replace

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.shape_changes import ShapeChange


def with_partial_types(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; a split into parts of another type has both shapes and says so."""
    return [
        _with_types(matching, change) if change.kind is Kind.SPLIT else change for change in changes
    ]


def _with_types(matching: Matching, change: Change) -> Change:
    old = None if change.before is None else matching.before.find(*change.before)
    new = None if change.after is None else matching.after.find(*change.after)
    if old is None or new is None or old.shape.elements or new.shape.elements:
        return change
    if old.shape.element_type == new.shape.element_type:
        return change
    shapes = ShapeChange(old.shape.text, new.shape.text)
    return replace(change, kinds=(Kind.SPLIT, Kind.TYPE), details=(shapes,))
