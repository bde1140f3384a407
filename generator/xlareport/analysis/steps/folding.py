"""Which of the removed instructions were folded into constants."""

from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.constants import is_constant, readers
from xlareport.hlo.model import HloModule, Instruction

FOLDED_USERS = "what used it was folded into a constant"
_FEW_USERS = 16
"""Users of an instruction of which it is asked whether they are constant too."""
_MANY_USERS = 64
"""Removed users of an instruction, and their users, that are followed to a constant."""


def is_literal(module: HloModule, place: Place) -> bool:
    """Return whether an instruction reads nothing: a constant, an iota."""
    line = module.find(*place)
    return line is not None and not line.operands


class ConstantFolding(Struct, frozen=True):
    """Asks of the instructions of a step whether they were folded."""

    matching: Matching

    def folds(self, place: Place) -> bool:
        """Return whether a removed instruction was a part of what is one constant now."""
        module = self.matching.before
        places = [*islice(readers(module, place), _FEW_USERS + 1)]
        if not 0 < len(places) <= _FEW_USERS:
            return False
        if not all(is_constant(module, part) for part in (place, *places)):
            return False
        if is_literal(module, place) and any(map(self._goes_on_computing, places)):
            return False
        return all(self._reads_constant(part) for part in places)

    def is_value(self, place: Place, places: Sequence[Place]) -> bool:
        """Return whether a fusion or call of constants alone became these, all constants."""
        lines = [self.matching.after.find(*after) for after in places]
        constant = [line is not None and line.opcode == "constant" for line in lines]
        return bool(lines) and all(constant) and is_constant(self.matching.before, place)

    def _after(self, place: Place) -> tuple[Place, Instruction] | None:
        """Return where and as what an instruction continues."""
        after = self.matching.partner_after(place)
        line = None if after is None else self.matching.after.find(*after)
        return None if after is None or line is None else (after, line)

    def _goes_on_computing(self, place: Place) -> bool:
        """Return whether an instruction continues as anything but a constant."""
        known = self._after(place)
        return known is not None and known[1].opcode != "constant"

    def _reads_constant(self, place: Place) -> bool:
        """Return whether a constant expression became a constant, reads one, or led to one."""
        waiting, seen = [place], {place}
        for known in waiting:
            if self._constant_now(known):
                return True
            if self.matching.partner_after(known) is None and len(seen) <= _MANY_USERS:
                users = islice(readers(self.matching.before, known), _FEW_USERS)
                waiting += [user for user in dict.fromkeys(users) if user not in seen]
                seen.update(waiting)
        return False

    def _constant_now(self, place: Place) -> bool:
        """Return whether an instruction became a constant, or its continuation reads one."""
        known = self._after(place)
        if known is None:
            return False
        after, line = known
        read = (Place(after.computation, name) for name in line.operand_names)
        return line.opcode == "constant" or any(self._is_new_constant(value) for value in read)

    def _is_new_constant(self, place: Place) -> bool:
        """Return whether an operand is a constant that was not one before: folding makes such."""
        line, old = self.matching.after.find(*place), self.matching.partner_before(place)
        known = self.matching.before.find(*old) if old else None
        return bool(
            line and line.opcode == "constant" and (not known or known.opcode != "constant")
        )
