"""Constants that only dead instructions read, and that instructions were folded into."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind

_NEW = frozenset({Kind.ADDED, Kind.UNUSED})
_CONSTANT = "constant"


def with_folded_constants(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; what was folded says into which new constant, which is told with it.

    What reads that constant may be dead since the same step, so that no pairing has it.
    """
    rows = list(changes)
    new = {row.after: row for row in rows if row.kind in _NEW and row.opcodes[1] == _CONSTANT}
    into: dict[Place, Place] = {}
    for row in rows if new else ():
        if row.kind is Kind.FOLDED and row.before is not None and row.after is None:
            constant = next(constants_instead(matching, row.before), None)
            if constant in new and constant is not None and constant not in into.values():
                into[row.before] = constant
    merged = frozenset(into.values())
    return [
        _folded(row, into[row.before], new[into[row.before]])
        if row.kind is Kind.FOLDED and row.after is None and row.before in into
        else row
        for row in rows
        if not (row.kind in _NEW and row.after in merged)
    ]


def _folded(row: Change, constant: Place, new: Change) -> Change:
    opcodes = (row.opcodes[0], _CONSTANT)
    return replace(row, after=constant, opcodes=opcodes, balance=row.balance + new.balance)


def constants_instead(matching: Matching, place: Place) -> Iterator[Place]:
    """Yield the constants of one shape with an instruction that its readers read now."""
    home = matching.before.by_name[place.computation]
    line = home.by_name.get(place.instruction)
    for user in home.users.get(place.instruction, ()):
        after = matching.partner_after(Place(home.name, user.name))
        now = None if after is None else matching.after.find(*after)
        if after is None or now is None or len(now.operand_names) != len(user.operand_names):
            continue
        pairs = zip(user.operand_names, now.operand_names, strict=True)
        for name in (new for old, new in pairs if old == place.instruction):
            read = matching.after.find(after.computation, name)
            if line and read and read.opcode == _CONSTANT and read.shape.text == line.shape.text:
                yield Place(after.computation, name)
