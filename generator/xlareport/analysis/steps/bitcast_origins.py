"""Moves that became bitcasts, of which a bitcast of the move's bitcast was made at once.

`algsimp` writes a transpose that leaves all bytes in place as a bitcast, which keeps the metadata
of the transpose, and then a bitcast of bitcasts as one. So that one is what the transpose was.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import Reason
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_BITCAST = "bitcast"
_MOVES = REARRANGEMENTS - {_BITCAST}
_FARTHEST = 8
"""Bitcasts behind a bitcast that are looked at."""


def with_bitcast_origins(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; a bitcast with the metadata of a move behind it took its place."""
    rows = list(changes)
    moves = {
        row.before: number
        for number, row in enumerate(rows)
        if row.kind is Kind.REMOVED and row.balance < 0
        if row.opcodes[0] in _MOVES and row.before is not None
    }
    taken: dict[Place | None, Reason] = {}
    for number, row in enumerate(rows if moves else ()):
        move = _move_behind(matching, row)
        other = None if move is None else moves.pop(move, None)
        if other is not None:
            rows[number], rows[other] = _exchanged(row, rows[other])
            taken[move] = rows[number].reason
    return [_with_chain(matching, row, taken) for row in rows] if taken else rows


def _with_chain(matching: Matching, row: Change, taken: Mapping[Place | None, Reason]) -> Change:
    """Return a change; a removed bitcast of a move that became a bitcast went with it."""
    if row.kind is not Kind.REMOVED or row.opcodes[0] != _BITCAST or row.before is None:
        return row
    home = matching.before.by_name[row.before.computation]
    line = home.behind(home.by_name.get(row.before.instruction), {_BITCAST}, _FARTHEST)
    reason = None if line is None else taken.get(Place(home.name, line.name))
    return row if reason is None else replace(row, reason=reason)


def _move_behind(matching: Matching, row: Change) -> Place | None:
    """Return the move behind a bitcast whose metadata the bitcast has now; None if there is none.

    Between both are only bitcasts, without that metadata or with it as their own.
    """
    is_new = row.opcodes == (_BITCAST, _BITCAST) and Kind.METADATA in row.kinds and not row.balance
    if not is_new or row.before is None or row.after is None:
        return None
    home = matching.before.by_name[row.before.computation]
    old, new = matching.before.find(*row.before), matching.after.find(*row.after)
    old = home.behind(old, {_BITCAST}, _FARTHEST)
    known = old is not None and new is not None and bool(new.metadata.op_name)
    if not known or old is None or new is None or old.metadata != new.metadata:
        return None
    return Place(home.name, old.name)


def _exchanged(bitcast: Change, move: Change) -> tuple[Change, Change]:
    """Return a bitcast as removed, and the move as what became the bitcast of now."""
    gone = replace(
        bitcast,
        kind=Kind.REMOVED,
        kinds=(Kind.REMOVED,),
        after=None,
        reason=f"%{bitcast.after.instruction} has the value of all of them"
        if bitcast.after
        else "",
        opcodes=(_BITCAST, ""),
        details=(),
        balance=bitcast.balance - 1,
    )
    became = replace(
        move,
        kind=Kind.REPLACED,
        kinds=(Kind.REPLACED,),
        after=bitcast.after,
        reason="a bitcast with its metadata",
        opcodes=(move.opcodes[0], _BITCAST),
        balance=move.balance + 1,
    )
    return gone, became
