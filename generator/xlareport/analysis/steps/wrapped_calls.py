"""Calls of what stood outside that run asynchronously: what they call was made asynchronous.

The offload to a SparseCore calls a scatter in an asynchronous computation. Where it sorts the
indices first, the operands are others, and only the call has what the scatter was. A collective
that had a start and a done has others then.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import TRANSPARENT, holders_of, homes_of
from xlareport.analysis.source.scopes import scope
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.wording import is_joined
from xlareport.hlo.model import HloModule

_START, _DONE = "async-start", "async-done"
_MOST_CALLS = 8
"""Calls within one another that are looked at."""


def with_wrapped_calls(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; a new call within a new start and done is told with both of them."""
    rows = list(changes)
    calls = [number for number, row in enumerate(rows) if _calls_one(row)]
    ends = {row.after for row in rows if calls and _is_new_end(row)}
    wrapping: set[Place | None] = set()
    for number in calls:
        halves = [place for place in _halves(matching, rows[number].after) if place in ends]
        if len(halves) > 1 and wrapping.isdisjoint(halves):
            rows[number] = _asynchronous(matching, rows[number], halves)
            wrapping.update(halves)
    _start_anew(matching, rows, wrapping)
    return [_as_part(row) if row.after in wrapping and _is_new_end(row) else row for row in rows]


def _start_anew(matching: Matching, rows: list[Change], wrapping: set[Place | None]) -> None:
    """Tell of each start whose operation a new start runs now that this one replaced it."""
    new = {row.after for row in rows if _is_new_end(row)}
    for number, row in enumerate(rows):
        if row.kind is not Kind.REPLACED or not is_joined(row.opcodes) or row.after is None:
            continue
        start = wrapping_start(matching.after, row.after)
        if start in new and start not in wrapping:
            rows[number] = _replaced_start(row, start)
            wrapping.add(start)


def wrapping_start(module: HloModule, place: Place) -> Place | None:
    """Return the start that runs an instruction, also through calls; None where none does."""
    homes, holders = homes_of(module), holders_of(module)
    for _ in range(_MOST_CALLS):
        holder = holders.get(place.computation)
        if holder is None:
            return None
        place = Place(homes[place.computation], holder.name)
        if holder.opcode not in TRANSPARENT:
            return place if holder.opcode == _START else None
    return None


def _replaced_start(row: Change, start: Place | None) -> Change:
    """Return what became a start as that of it; what this runs follows, as its place."""
    opcodes = row.opcodes[0], _START
    runs = "" if row.after is None else f"runs as %{row.after.instruction}"
    details = (f"{opcodes[0]} → {_START}", runs)
    kinds = (Kind.REPLACED, Kind.MOVED)
    return replace(row, kinds=kinds, after=start, opcodes=opcodes, details=details, target="")


def _as_part(row: Change) -> Change:
    """Return a new start or done as a part of what is told as asynchronous."""
    return replace(row, kind=Kind.PART, kinds=(Kind.PART,), details=())


def _calls_one(row: Change) -> bool:
    """Return whether a change is a new call of one instruction that stood outside."""
    return row.kind is Kind.OUTLINED and len(row.members) == 1 and not row.copied


def _is_new_end(row: Change) -> bool:
    return row.kind is Kind.ADDED and row.opcodes[1] in {_START, _DONE}


def _halves(matching: Matching, call: Place | None) -> list[Place]:
    """Return the start whose computation a call is in, and its dones; empty in no such one."""
    start = None if call is None else holders_of(matching.after).get(call.computation)
    if call is None or start is None or start.opcode != _START:
        return []
    home = matching.after.by_name[homes_of(matching.after)[call.computation]]
    lines = (start, *home.users.get(start.name, ()))
    return [Place(home.name, line.name) for line in lines if line.opcode in {_START, _DONE}]


def _asynchronous(matching: Matching, call: Change, halves: list[Place]) -> Change:
    former = matching.before.find(*call.members[0])
    within = [] if call.after is None else [call.after]
    return replace(
        call,
        kind=Kind.ASYNC,
        kinds=(Kind.ASYNC,),
        before=call.members[0],
        after=halves[0],
        reason="called between a start and a done",
        scope=(former and scope(former)) or call.members[0].computation,
        opcodes=("" if former is None else former.opcode, _START),
        details=(),
        members=(*halves, *within),
    )
