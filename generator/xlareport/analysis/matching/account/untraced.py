"""Grades removals and additions as guesses where too much was rewritten to trust them.

Whole pipelines run between the input and the final module. An instruction that was rewritten twice
looks removed, and its replacement added; within a single pass that is good evidence.
"""

from collections.abc import Iterable

from xlareport.analysis.matching.search.pairing import ChangeCause, Pairing, Relation
from xlareport.analysis.matching.sides.families import family_of
from xlareport.hlo.model import HloModule, Instruction
from xlareport.knowledge.grades import Grade

_FEWEST = 20
_SHARE = 8
"""Divisor: if more than 1/8 of the instructions of a side has no counterpart, it is too much."""
_REASON = "no counterpart was found, and much else was rewritten as well"
_FRAMING = frozenset({"call", "get-tuple-element", "parameter", "tuple"})
"""Opcodes that only pass values on: passes remove and add them without a trace."""
_STAGED = frozenset(
    {"bitcast", "copy", "copy-done", "copy-start", "partition-id", "replica-id", *_FRAMING}
)
"""Opcodes that the compiler adds of its own."""


def mark_untraced(before: HloModule, after: HloModule, pairings: Iterable[Pairing]) -> None:
    """Grade removals and additions as guesses, with a cause, if there are too many."""
    gone: list[Pairing] = []
    new: list[Pairing] = []
    collectives: list[Pairing] = []
    for pairing in pairings:
        if pairing.cause is not None or pairing.grade is Grade.EXACT:
            continue
        if pairing.relation is Relation.REMOVED and not _is_removable(before, pairing):
            gone.append(pairing)
        elif pairing.relation is Relation.ADDED:
            line = after.find(*pairing.after[0])
            if line is not None and line.opcode not in _STAGED:
                (collectives if family_of(line) == "collective" else new).append(pairing)
    if not _are_many(gone, before):
        return
    if collectives and _has_collectives(before):  # else the partitioner's own
        new += collectives
    if _are_many(new, after):
        for pairing in (*gone, *new):
            pairing.grade, pairing.reason = Grade.GUESSED, _REASON
            pairing.cause = ChangeCause.UNTRACED


def _are_many(pairings: list[Pairing], module: HloModule) -> bool:
    return len(pairings) >= _FEWEST and len(pairings) * _SHARE >= module.instruction_count


def _is_removable(before: HloModule, pairing: Pairing) -> bool:
    """Return whether an instruction has no counterpart by nature: tuples and annotations."""
    line = before.find(*pairing.before[0])
    return line is None or line.opcode in _FRAMING or _annotates(line)


def _annotates(line: Instruction) -> bool:
    """Return whether a custom call only states how an array is sharded."""
    target = line.call_target
    return line.opcode == "custom-call" and target.startswith(_ANNOTATIONS)


_ANNOTATIONS = ("Sharding", "SPMD", "xla.sdy.")


def _has_collectives(module: HloModule) -> bool:
    lines = (line for computation in module.computations for line in computation.instructions)
    return any(family_of(line) == "collective" for line in lines)
