"""Elements of loops that are one constant in every iteration, which the bodies have now.

`simplify-while-loops` clones the constant that a loop is given for each line that took the element.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.folded_constants import constants_instead
from xlareport.analysis.steps.kinds import Kind

if TYPE_CHECKING:
    from xlareport.analysis.matching.search.pairing import Place

_ELEMENT, _CONSTANT = "get-tuple-element", "constant"


def with_loop_constants(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; an element whose readers read a clone in the loop was folded into it."""
    rows = list(changes)
    clones = {
        row.after: row
        for row in rows
        if row.kind is Kind.CLONED and row.opcodes == (_CONSTANT, _CONSTANT) and row.balance > 0
    }
    into: dict[Place, Change] = {}
    for row in rows if clones else ():
        if row.before is not None and _is_removed_element(row):
            read = (place for place in constants_instead(matching, row.before) if place in clones)
            clone = next(read, None)
            if clone is not None:
                into[row.before] = clones.pop(clone)
    taken = {clone.after for clone in into.values()}
    return [
        _folded(row, into.get(row.before) if row.before and _is_removed_element(row) else None)
        for row in rows
        if not (row.kind is Kind.CLONED and row.after in taken)
    ]


def _is_removed_element(row: Change) -> bool:
    return row.kind is Kind.REMOVED and row.opcodes[0] == _ELEMENT and row.balance < 0


def _folded(row: Change, clone: Change | None) -> Change:
    """Return an element as folded into a constant, which counts no more as a clone."""
    if clone is None:
        return row
    return replace(
        row,
        kind=Kind.FOLDED,
        kinds=(Kind.FOLDED,),
        after=clone.after,
        reason="the loop has that constant for it in every iteration",
        opcodes=(_ELEMENT, _CONSTANT),
        balance=row.balance + clone.balance,
    )
