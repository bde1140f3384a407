"""Transposes that a pass moved past an instruction, and undoes at their old place.

`reshape-mover` writes `convert(transpose(x))` as `transpose(convert(transpose(transpose(x))))`, of
which the two inner ones cancel out: a later pass removes both.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.model import Instruction

_TRANSPOSE = "transpose"


def with_undone_transposes(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; a clone of a transpose past an instruction is that, moved.

    If all that still reads the original undoes it; what undoes it says so.
    """
    rows = list(changes)
    clones = [change for change in rows if _is_clone(change)]
    undoing = {
        change.before: names
        for change in clones
        if change.before and (names := _undoing(matching, change.before))
    }
    reasons = {
        Place(place.computation, name): place.instruction
        for place, names in undoing.items()
        for name in names
    }
    return [_with_move(change, undoing, reasons) for change in rows]


def _is_clone(change: Change) -> bool:
    return change.kind is Kind.CLONED and isinstance(change.reason, Past)


def _with_move(
    change: Change, undoing: Mapping[Place, list[str]], reasons: Mapping[Place, str]
) -> Change:
    names = [] if change.before is None else undoing.get(change.before, [])
    if names and isinstance(change.reason, Past) and _is_clone(change):
        return replace(
            change,
            kind=Kind.SWAPPED,
            kinds=(Kind.SWAPPED,),
            reason=replace(change.reason, of_copy=False),
            details=(f"and %{names[0]} undoes the original",),
        )
    undone = reasons.get(change.after) if change.after is not None else None
    if undone is not None and change.kind is Kind.ADDED:
        return replace(change, reason=f"undoes %{undone}")
    return change


def _undoing(matching: Matching, place: Place) -> list[str]:
    """Return the new transposes that undo one, if they alone read it; else none."""
    home = matching.after.by_name.get(
        matching.computations.get(place.computation, place.computation)
    )
    line = None if home is None else home.by_name.get(place.instruction)
    if home is None or line is None or line.opcode != _TRANSPOSE:
        return []
    users = home.users.get(line.name, ())
    undo = [user.name for user in users if _undoes(user, line)]
    return undo if len(undo) == len(users) else []


def _undoes(user: Instruction, line: Instruction) -> bool:
    if user.opcode != _TRANSPOSE:
        return False
    first, second = dimension_numbers(line), dimension_numbers(user)
    return [first[at] for at in second if at < len(first)] == sorted(first)
