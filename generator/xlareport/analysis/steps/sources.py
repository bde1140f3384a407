"""Where the value of an operand is computed, behind what only moves data."""

from xlareport.analysis.matching.pairing import Place
from xlareport.analysis.matching.result import Matching
from xlareport.hlo.model import Computation, HloModule, Instruction

_MOVING = frozenset({"bitcast", "broadcast", "copy", "reshape", "transpose"})
_OPAQUE = frozenset(
    {
        "call",
        "conditional",
        "custom-call",
        "fusion",
        "get-tuple-element",
        "optimization-barrier",
        "tuple",
        "while",
    }
)
"""Opcodes whose value is computed elsewhere, like that of a callee's parameter."""
_FARTHEST = 32
"""Movers in a row that are looked behind."""


def reads_other_values(
    old: Instruction, new: Instruction, before: str, after: str, matching: Matching
) -> bool:
    """Return whether an instruction reads what is known to be another value, in any order.

    `before` and `after` name the computations. False where a value comes from elsewhere.
    """
    was = [_source(matching.before, Place(before, name)) for name in old.operand_names]
    now = [_source(matching.after, Place(after, name)) for name in new.operand_names]
    if None in was or None in now:
        return False
    return {matching.partner_after(place) for place in was if place} != {*now}


def _source(module: HloModule, place: Place) -> Place | None:
    """Return the place of what computes a value; None where that is not in its computation."""
    home = module.by_name.get(place.computation)
    name = place.instruction
    for _ in range(_FARTHEST):
        line = home.by_name.get(name) if home else None
        if line is None or home is None or _is_elsewhere(line, home):
            return None
        if line.opcode not in _MOVING:
            return Place(place.computation, name)
        name = next(iter(line.operand_names), "")
    return None


def _is_elsewhere(line: Instruction, home: Computation) -> bool:
    return line.opcode in _OPAQUE or (line.opcode == "parameter" and not home.is_entry)
