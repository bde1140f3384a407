"""What no counterpart was found for, where so much was rewritten that this says nothing.

Between the input and the final module whole pipelines ran. What they rewrote twice looks as if it
were removed and something else added; of a single pass, that is good evidence.
"""

from collections.abc import Iterable

from xlareport.analysis.matching.families import family_of
from xlareport.analysis.matching.pairing import ChangeCause, Pairing, Relation
from xlareport.hlo.model import HloModule, Instruction
from xlareport.knowledge.grades import Grade

_FEWEST = 20
_SHARE = 8
"""One in so many instructions, on either side, of which no counterpart was found."""
_REASON = "no counterpart was found, and much else was rewritten as well"
_FRAMING = frozenset({"call", "get-tuple-element", "parameter", "tuple"})
"""Opcodes that only pass values on: passes remove and add them without a trace."""
_STAGED = frozenset(
    {"bitcast", "copy", "copy-done", "copy-start", "partition-id", "replica-id", *_FRAMING}
)
"""Opcodes that the compiler adds of its own."""


def mark_untraced(before: HloModule, after: HloModule, pairings: Iterable[Pairing]) -> None:
    """Grade as guesses, with a cause, what is said to be removed or added, if that is too much."""
    gone, new = [], []
    for pairing in pairings:
        if pairing.cause is not None or pairing.grade is Grade.EXACT:
            continue
        if pairing.relation is Relation.REMOVED and not _is_removable(before, pairing):
            gone.append(pairing)
        elif pairing.relation is Relation.ADDED and not _is_own(before, after, pairing):
            new.append(pairing)
    if _are_many(gone, before) and _are_many(new, after):
        for pairing in (*gone, *new):
            pairing.grade, pairing.reason = Grade.GUESSED, _REASON
            pairing.cause = ChangeCause.UNTRACED


def _are_many(pairings: list[Pairing], module: HloModule) -> bool:
    return len(pairings) >= _FEWEST and len(pairings) * _SHARE >= module.instruction_count


def _is_removable(before: HloModule, pairing: Pairing) -> bool:
    """Whether an instruction that is gone has no counterpart: it only frames or annotates."""
    line = before.find(*pairing.before[0])
    return line is None or line.opcode in _FRAMING or _annotates(line)


def _annotates(line: Instruction) -> bool:
    """Whether a custom call only says how an array is spread over devices."""
    target = line.attributes.get("custom_call_target", "").strip('"')
    return line.opcode == "custom-call" and target.startswith(_ANNOTATIONS)


_ANNOTATIONS = ("Sharding", "SPMD", "xla.sdy.")


def _is_own(before: HloModule, after: HloModule, pairing: Pairing) -> bool:
    """Whether a new instruction is the compiler's own: a copy, a partitioner's collective."""
    line = after.find(*pairing.after[0])
    if line is None or line.opcode in _STAGED:
        return True
    return family_of(line) == "collective" and not _has_collectives(before)


def _has_collectives(module: HloModule) -> bool:
    lines = (line for computation in module.computations for line in computation.instructions)
    return any(family_of(line) == "collective" for line in lines)
