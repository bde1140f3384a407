"""Instructions that a pass made anew: the same operation, under a new name."""

from collections.abc import Mapping

from xlareport.analysis.matching.search.pairing import Pairing, Relation
from xlareport.analysis.steps.details import Difference
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.model import Instruction

ANEW = frozenset({Relation.REPLACED, Relation.REWRITTEN})
"""Relations to what took the place of another instruction."""
_SCHEDULING_NAME = "scheduling_name="
_ELEMENT = "get-tuple-element"
_BESIDES = frozenset({Kind.RENAMED, Kind.METADATA, Kind.REWIRED})
_NOT_REBUILT = frozenset(
    {
        Kind.HOISTED,
        Kind.LAYOUT,
        Kind.MOVED,
        Kind.PRECISION,
        Kind.REDIRECTED,
        Kind.REWIRED,
        Kind.SHAPE,
        Kind.SHARDING,
        Kind.SUMMED,
        Kind.SUNK,
        Kind.TURNED,
        Kind.TYPE,
    }
)
"""Kinds that say more of what was made anew than that it was."""


def was_rebuilt(pairing: Pairing, old: Instruction, new: Instruction) -> bool:
    """Return whether a pass made an instruction anew, which did not move in the schedule."""
    if old.name == new.name:
        return False
    return pairing.relation is not Relation.SAME or _is_without_mark(old, new)


def _is_without_mark(old: Instruction, new: Instruction) -> bool:
    """Return whether only the old line has the mark that a scheduler left on each instruction.

    What is only renamed keeps it, and what a later pass makes has none.
    """
    marks = [_SCHEDULING_NAME in line.attributes.get("metadata", "") for line in (old, new)]
    return marks == [True, False]


def as_rebuilt(
    pairing: Pairing, lines: tuple[Instruction, Instruction], value: dict[Kind, Difference]
) -> dict[Kind, Difference]:
    """Return the differences of two lines, as one if the same operation was made anew."""
    old, new = lines
    if old.name == new.name or new.opcode == _ELEMENT or value.keys() & _NOT_REBUILT:
        return value
    counts = _what_counts(value) if pairing.relation in ANEW else ""
    if not counts and _is_without_mark(old, new):
        counts = "; ".join(filter(None, (_what_counts(value), str(value[Kind.METADATA]))))
    return {Kind.REBUILT: counts} if counts else value


def _what_counts(value: Mapping[Kind, Difference]) -> str:
    """Put details together; names and metadata are left out, for they are no reason."""
    return "; ".join(str(text) for kind, text in value.items() if kind not in _BESIDES)
