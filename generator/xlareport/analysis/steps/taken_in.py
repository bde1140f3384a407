"""Moves of data that a dot or a convolution takes in: it reads what they moved, in another way.

Passes fold a transpose into the dimension numbers of a dot, a reverse or a pad into the window of a
convolution, and a copy to another layout into the layout of either. A transpose that moves only
dimensions of size 1 is a reshape: a dot that reads a reshape of its operand has taken nothing in.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.details import TakenIn
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import SAME_ORDER

_MOVES = frozenset({"copy", "pad", "reverse", "transpose"})
_READERS = frozenset({"convolution", "dot"})
_GONE = frozenset({Kind.LEFT, Kind.REMOVED})
_OTHERWISE = frozenset({Kind.ATTRIBUTES, Kind.LAYOUT})
"""Kinds of change of what reads its operands in another way."""
_MOST_STEPS = 4
"""Bitcasts and reshapes in a row that are looked through."""


def with_taken_in(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; what a dot or a convolution does now too is told as folded into it."""
    rows = list(changes)
    readers = {
        change.before: change.after
        for change in rows
        if change.opcodes[0] == change.opcodes[1] in _READERS and _OTHERWISE & {*change.kinds}
    }
    return [_taken(matching, change, readers) for change in rows] if readers else rows


def _taken(
    matching: Matching, change: Change, readers: Mapping[Place | None, Place | None]
) -> Change:
    place = change.before
    if place is None or change.kind not in _GONE or change.opcodes[0] not in _MOVES:
        return change
    home = matching.before.by_name[place.computation]
    line = home.by_name[place.instruction]
    steps = 0 if _is_reshape(line) else _MOST_STEPS
    value = home.behind(home.operand(line), SAME_ORDER, steps)
    known = None if value is None else matching.partner_after(Place(home.name, value.name))
    name = "" if value is None else value.name if known is None else known.instruction
    for reader in _readers(home, line):
        now = readers.get(Place(home.name, reader.name))
        if now is not None and name in _read(matching, now, steps):
            taken = TakenIn(now.instruction, reader.opcode)
            return replace(change, kind=Kind.TAKEN, kinds=(Kind.TAKEN,), details=(taken,))
    return change


def _is_reshape(line: Instruction) -> bool:
    """Return whether a transpose moves only dimensions of size 1."""
    sizes = zip(dimension_numbers(line), line.shape.dimensions, strict=False)
    moved = [number for number, size in sizes if size != 1]
    return line.opcode == "transpose" and moved == sorted(moved)


def _readers(home: Computation, line: Instruction) -> Iterator[Instruction]:
    """Yield the dots and convolutions that read a line, also over bitcasts and reshapes."""
    lines = [line]
    for _ in range(_MOST_STEPS):
        users = [user for known in lines for user in home.users.get(known.name, ())]
        yield from (user for user in users if user.opcode in _READERS)
        lines = [user for user in users if user.opcode in SAME_ORDER]


def _read(matching: Matching, reader: Place, steps: int) -> set[str]:
    """Return the names of what a new reader reads, behind that many bitcasts and reshapes."""
    home = matching.after.by_name[reader.computation]
    names = home.by_name[reader.instruction].operand_names
    values = (home.behind(home.by_name.get(name), SAME_ORDER, steps) for name in names)
    return {value.name for value in values if value is not None}
