"""Changes of light instructions over a whole compilation, which are counted, not listed.

Many passes rewrite a reshape or a constant several times. From the first and the last snapshot
alone it cannot be seen which one became which; how many there are of each opcode is exact.
"""

from xlareport.analysis.matching.sides.halves import DONE, START
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.heaviness import HEAVY, PLAIN, heaviness, heaviness_of_change
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.opcode_groups import BOUNDARIES
from xlareport.runtime import english

OpcodeCounts = tuple[tuple[str, int, int], ...]
"""Opcode, count before and count after; the largest change first."""

_COUNTED = 8
_KEPT = frozenset(
    {
        Kind.ABSORBED,
        Kind.CARRIED,
        Kind.COPIED,
        Kind.DEFINED,
        Kind.FUSED,
        Kind.INLINED,
        Kind.LEFTOVER,
        Kind.OUTLINED,
        Kind.SPACE,
        Kind.TAKEN,
        Kind.UNAPPLIED,
        Kind.UNCALLED,
        Kind.UNIFIED,
    }
)
"""Kinds that count whatever the opcode: of computations and calls, of dots, of memory spaces."""


def without_light(groups: tuple[ChangeGroup, ...]) -> tuple[ChangeGroup, ...]:
    """Return the changes of heavy instructions and of computations; all if there are none."""
    return tuple(group for group in groups if not _is_light(group)) or groups


def _is_light(group: ChangeGroup) -> bool:
    is_scheduled = any(opcode.endswith((START, DONE)) for opcode in group.opcodes)
    if group.kind in _KEPT or is_scheduled:
        return False
    least = PLAIN if group.kind is Kind.EXPANDED else HEAVY
    weight = heaviness_of_change(group.opcodes)
    return weight <= PLAIN or weight < least


def count_light(opcodes: OpcodeCounts) -> str:
    """Return a sentence with the counts of light opcodes before and after; '' if none differ."""
    light = [
        f"{opcode} {before:,} → {after:,}"
        for opcode, before, after in opcodes
        if opcode not in BOUNDARIES and heaviness(opcode) < HEAVY
    ]
    return f"Other instructions, by opcode: {english.first_few(light, _COUNTED)}." if light else ""
