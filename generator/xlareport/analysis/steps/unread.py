"""Instructions that a step left or added without live users: a later pass removes them."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.leftovers import dead_names
from xlareport.hlo.model import Computation
from xlareport.knowledge.grades import Grade

NO_LIVE_USERS = "no live instruction uses it now"
"""The reason of an instruction that stays and lost its users, under whatever name."""


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


def read_instead(matching: Matching, before: Place) -> str:
    """Return what a former user of an instruction uses now; '' if none of them is known."""
    home = matching.before.by_name[before.computation]
    for line in home.users.get(before.instruction, ()):
        after = matching.partner_after(Place(home.name, line.name))
        now = None if after is None else matching.after.find(*after)
        if now is None or now.opcode != line.opcode or len(now.operands) != len(line.operands):
            continue
        name = [*now.operand_names][[*line.operand_names].index(before.instruction)]
        if name != before.instruction:
            return f"%{now.name} uses %{name} instead"
    return ""
