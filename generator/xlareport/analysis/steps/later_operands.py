"""Asynchronous starts whose operands a later update gives: the scheduler starts them earlier."""

from collections.abc import Mapping

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.details import Difference
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.model import Instruction
from xlareport.runtime.english import first_few

_START, _UPDATE = "async-start", "async-update"
_MOST_NAMES = 4


def with_later_operands(
    matching: Matching,
    before: tuple[Place, Instruction],
    after: tuple[Place, Instruction],
    differences: Mapping[Kind, Difference],
) -> dict[Kind, Difference]:
    """Return the differences; of a start without its operands, which update gives them.

    The shape of a start lists its operands, so that it follows from them.
    """
    result = dict(differences)
    (here, old), (there, new) = before, after
    if not old.opcode == new.opcode == _START or new.operands or not old.operands:
        return result
    update, given = _given_later(matching, here, old, there)
    if update is None:
        return result
    result.pop(Kind.SHAPE, None)
    names = first_few([f"%{name}" for name in given], _MOST_NAMES)
    result[Kind.OPERANDS] = f"uses no operands: %{update.name} gives it {names} later"
    return result


def _given_later(
    matching: Matching, here: Place, old: Instruction, there: Place
) -> tuple[Instruction | None, list[str]]:
    """Return the update of a start that reads what its former operands continue as, and these."""
    home = matching.after.by_name[there.computation]
    former = (matching.partner_after(Place(here.computation, name)) for name in old.operand_names)
    names = {place.instruction for place in former if place and place.computation == home.name}
    for user in home.users.get(there.instruction, ()):
        given = [name for name in user.operand_names if name in names]
        if user.opcode == _UPDATE and given:
            return user, given
    return None, []
