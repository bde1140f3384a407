"""Where an instruction is now: moved out of a loop, into one, or into another computation."""

from collections.abc import Mapping

from xlareport.analysis.matching.facts import holders_of
from xlareport.analysis.matching.pairing import Place
from xlareport.analysis.matching.result import Matching
from xlareport.analysis.steps.differences import Kind
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import BOUNDARIES


def destination(matching: Matching, before: Place, after: Place, opcode: str) -> dict[Kind, str]:
    """Return where an instruction is now, by the kind of move."""
    holders = holders_of(matching.before), holders_of(matching.after)
    if opcode not in BOUNDARIES:
        left = _loop_left(matching, before, after, holders[1])
        if left is not None:
            return {Kind.HOISTED: f"moved out of the loop %{left}"}
        if _enters_loop(matching, before, after, holders[0]):
            return {Kind.SUNK: f"moved into the loop %{holders[1][after.computation].name}"}
    new = holders[1].get(after.computation)
    return {Kind.MOVED: f"moved into %{new.name if new else after.computation}"}


def loop_of_copy(matching: Matching, before: Place, after: Place, opcode: str) -> str:
    """Return `in the loop %x` of a copy in a loop, where the original is outside; '' elsewhere."""
    if before.computation == after.computation or opcode in BOUNDARIES:
        return ""
    if not _enters_loop(matching, before, after, holders_of(matching.before)):
        return ""
    return f"in the loop %{holders_of(matching.after)[after.computation].name}"


def _loop_left(
    matching: Matching, before: Place, after: Place, holders: Mapping[str, Instruction]
) -> str | None:
    body = matching.computations.get(before.computation, before.computation)
    return _loop_in(matching.after, after.computation, holders.get(body))


def _enters_loop(
    matching: Matching, before: Place, after: Place, holders: Mapping[str, Instruction]
) -> bool:
    body = matching.computation_before(after.computation)
    known = after.computation in holders_of(matching.after)
    return known and _loop_in(matching.before, before.computation, holders.get(body)) is not None


def _loop_in(module: HloModule, computation: str, caller: Instruction | None) -> str | None:
    """Return the name of what calls a computation, if that is a loop in the other one."""
    if caller is None or caller.opcode != "while":
        return None
    home = module.by_name.get(computation)
    return caller.name if home and home.by_name.get(caller.name) is caller else None
