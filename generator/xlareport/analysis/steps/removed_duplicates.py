"""Removed instructions whose users use an equal one instead: duplicates that were merged."""

from collections.abc import Iterable

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.duplicates import are_duplicates
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.operands import Operand, behind
from xlareport.hlo.model import HloModule

_ELEMENT = "get-tuple-element"
_MOST_USERS = 4
_DEEPEST = 8
"""Removed users of removed users that are followed."""


def with_removed_duplicates(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; the removal of a duplicate is its merging into what was kept."""
    return [
        change
        if change.kind is not Kind.REMOVED or change.before is None
        else _merged(change, kept_duplicate(matching, change.before))
        for change in changes
    ]


def kept_duplicate(matching: Matching, place: Place, depth: int = 0) -> Place | None:
    """Return the instruction after that a user of a removed duplicate uses instead; None if none.

    A user that was removed as a duplicate itself continues as the one that was kept.
    """
    home = matching.before.by_name[place.computation]
    for user in home.users.get(place.instruction, ())[:_MOST_USERS]:
        at = Place(home.name, user.name)
        after = matching.partner_after(at)
        if after is None and depth < _DEEPEST:
            after = kept_duplicate(matching, at, depth + 1)
        now = None if after is None else matching.after.find(*after)
        if after is None or now is None or len(now.operands) != len(user.operands):
            continue
        name = [*now.operand_names][[*user.operand_names].index(place.instruction)]
        kept = Place(after.computation, name)
        known = matching.partner_before(kept)
        if known is not None and known != place and _are_equal(matching.before, place, known):
            return kept
    return None


def _are_equal(module: HloModule, place: Place, known: Place) -> bool:
    return _passed_on(module, place) == known or are_duplicates(module, place, known)


def _passed_on(module: HloModule, place: Place) -> Place:
    """Return the instruction whose value an element of a tuple of the same computation has."""
    for _ in range(_DEEPEST):
        element = behind(module, Operand(place, "")) if _is(module, place, _ELEMENT) else None
        if element is None or not _is(module, element.place, "tuple"):
            break
        put_in = behind(module, element)
        if put_in is None or put_in.element:
            break
        place = put_in.place
    return place


def _is(module: HloModule, place: Place, opcode: str) -> bool:
    line = module.find(*place)
    return line is not None and line.opcode == opcode


def _merged(change: Change, kept: Place | None) -> Change:
    if kept is None:
        return change
    return replace(
        change,
        kind=Kind.MERGED,
        kinds=(Kind.MERGED,),
        after=kept,
        opcodes=(change.opcodes[0], change.opcodes[0]),
        reason="a duplicate of what was kept",
    )
