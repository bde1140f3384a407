"""What has the value, or does the work, of a removed instruction.

A tuple that an inlined call leaves is read past, with the copies behind its elements. A custom call
for several arrays becomes one for each array. A library call takes over a scale.
"""

from collections.abc import Iterator
from typing import NamedTuple

from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.reasons import DoneBy
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime import units

_MOST = 16
"""Copies behind an element that are looked behind."""


class ReadInstead(NamedTuple):
    """What has the value of a removed element, or does the work of a removed instruction."""

    place: Place
    why: str


def read_instead(matching: Matching, place: Place) -> ReadInstead | None:
    """Return what a removed instruction goes on in; None where it is not known."""
    pairing = matching.pairing_before(place)
    if pairing is not None and isinstance(pairing.reason, DoneBy):
        done = pairing.reason
        return ReadInstead(Place(done.computation, done.instruction), str(done))
    line = matching.before.find(*place)
    if line is None or line.opcode != "get-tuple-element":
        return None
    home = matching.before.by_name[place.computation]
    whole, number = home.operand(line), line.taken_element
    if whole is None or number is None:
        return None
    if whole.opcode == "tuple":
        return _past_tuple(matching, home, line, [*whole.operand_names][number : number + 1])
    return _part_of_call(matching, Place(home.name, whole.name), line, number)


def _past_tuple(
    matching: Matching, home: Computation, line: Instruction, held: list[str]
) -> ReadInstead | None:
    """Return what continues the operand of a tuple, if a reader of its element reads it now."""
    sources = {Place(home.name, name) for name in held}
    for reader, now, copies in _reads_now(matching, home, line):
        if matching.partner_before(now) in sources:
            passed = f" and {units.plural(copies, 'copy', 'copies')}" if copies else ""
            return ReadInstead(now, f"%{reader} uses %{now.instruction} instead of it{passed}")
    return None


def _reads_now(
    matching: Matching, home: Computation, line: Instruction
) -> Iterator[tuple[str, Place, int]]:
    """Yield the readers behind removed copies, what each reads now, and how many copies went."""
    waiting = [(line.name, 0)]
    for name, copies in waiting:
        for user in home.users.get(name, ()):
            partner = matching.partner_after(Place(home.name, user.name))
            now = None if partner is None else matching.after.find(*partner)
            if partner is None and user.opcode == "copy" and len(waiting) < _MOST:
                waiting.append((user.name, copies + 1))
            elif partner and now and len(now.operand_names) == len(user.operand_names):
                place = [*user.operand_names].index(name)
                read = Place(partner.computation, [*now.operand_names][place])
                yield now.name, read, copies


def _part_of_call(
    matching: Matching, call: Place, element: Instruction, number: int
) -> ReadInstead | None:
    """Return the call for the array that an element of a former call for several arrays was."""
    pairing, whole = matching.pairing_before(call), matching.before.find(*call)
    if pairing is None or whole is None or pairing.relation is not Relation.SPLIT:
        return None
    parts = pairing.after[number : number + 1]
    line = matching.after.find(*parts[0]) if parts else None
    if line is None or not whole.opcode == line.opcode == "custom-call":
        return None
    if line.shape.dimensions != element.shape.dimensions:
        return None
    return ReadInstead(parts[0], f"%{call.instruction} was split, and %{line.name} gives it")
