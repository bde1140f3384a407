"""Instructions that a step left or added without live users: a later pass removes them."""

from collections.abc import Iterator
from typing import NamedTuple

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.analysis.steps.details import Bypassed
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.hlo.shape import without_layout
from xlareport.knowledge.grades import Grade

NO_LIVE_USERS = "no live instruction uses it now"
"""The reason of an instruction that stays and lost its users, under whatever name."""

_FARTHEST = 8


def left_unread(matching: Matching) -> Iterator[Pairing]:
    """Yield instructions that lost all users, with the grade of their pairing."""
    for computation in matching.after.computations:
        old = matching.before.by_name.get(matching.computation_before(computation.name))
        if old is not None and old is not computation:
            for name in _dead_users_first(computation):
                place = Place(computation.name, name)
                former = matching.partner_before(place)
                if former is not None and _was_read(matching, former):
                    yield from _left(matching, former, place)


def _dead_users_first(computation: Computation) -> Iterator[str]:
    dead = dead_names(computation)
    if dead:
        yield from (line.name for line in reversed(computation.instructions) if line.name in dead)


def _was_read(matching: Matching, place: Place) -> bool:
    return place.instruction not in dead_names(matching.before.by_name[place.computation])


def _left(matching: Matching, before: Place, after: Place) -> Iterator[Pairing]:
    """Yield that an instruction remains without users, unless another took its place."""
    pairing = matching.pairing_after(after)
    grade = Grade.EXACT if pairing is None else pairing.known_of(before, after).grade
    itself = before.instruction == after.instruction
    if pairing is None or itself or _is_itself(pairing, after):
        yield Pairing((before,), (after,), grade, NO_LIVE_USERS)


def _is_itself(pairing: Pairing, after: Place) -> bool:
    """Return whether one of another name is the same instruction: the first, if it was cloned."""
    is_first = pairing.relation is Relation.CLONED and pairing.after[0] == after
    return is_first or pairing.relation is Relation.SAME


def read_instead(matching: Matching, before: Place) -> Bypassed | str:
    """Return what a former user of an instruction uses now; '' if none of them is known."""
    users = matching.before.by_name[before.computation].users.get(before.instruction, ())
    reads = [_read_now(matching, before, user) for user in users]
    known = [read for read in reads if read is not None and read.name != before.instruction]
    if not known:
        return ""
    first = known[0]
    behind = [_operands_behind(matching, before, read) for read in known]
    if len(known) == len(reads) and all(behind):
        return Bypassed(first.user, first.name, max(behind) == 1)
    return f"%{first.user} uses %{first.name} instead"


class _Read(NamedTuple):
    """What a user reads now in the place of another instruction."""

    user: str
    home: str
    name: str


def _read_now(matching: Matching, before: Place, line: Instruction) -> _Read | None:
    """Return what a former user reads now; None if that is not known."""
    after = matching.partner_after(Place(before.computation, line.name))
    now = None if after is None else matching.after.find(*after)
    if after is None or now is None or now.opcode != line.opcode:
        return None
    if len(now.operands) != len(line.operands):
        return None
    number = [*line.operand_names].index(before.instruction)
    return _Read(now.name, after.computation, [*now.operand_names][number])


def _operands_behind(matching: Matching, before: Place, read: _Read) -> int:
    """Return how many operands behind a former value what is read now is; 0 if it is not there.

    Beyond the nearest ones only moves are followed: reshapes of reshapes.
    """
    line, goal = matching.before.find(*before), Place(read.home, read.name)
    for number in range(1, _FARTHEST):
        names = [] if line is None else [*line.operand_names]
        places = [Place(before.computation, name) for name in names]
        if any(_is_same_value(matching, place, goal) for place in places):
            return number
        line = matching.before.find(*places[0]) if len(places) == 1 else None
        if line is None or line.opcode not in REARRANGEMENTS:
            break
    return 0


def _is_same_value(matching: Matching, before: Place, after: Place) -> bool:
    """Return whether one of the same dimensions is the counterpart of another."""
    if matching.partner_after(before) != after:
        return False
    lines = matching.before.find(*before), matching.after.find(*after)
    texts = [None if line is None else without_layout(line.shape.text) for line in lines]
    return texts[0] == texts[1] is not None
