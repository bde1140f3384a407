"""The subjects whose histories a report keeps, where a module has more than there is room for."""

from collections.abc import Sequence

from msgspec import Struct

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.subjects import Subject
from xlareport.hlo.opcode_groups import CONTROL_FLOW, MATRIX_PRODUCTS, NO_CODE
from xlareport.knowledge.opcodes import is_collective

_HEAVY = MATRIX_PRODUCTS | CONTROL_FLOW | {"custom-call", "fft"}
"""Opcodes of what readers look for first, beside collectives."""
_LIGHT = NO_CODE | {"async-done", "async-update", "copy-done"}
"""Opcodes that run nothing: they pass values on, or wait for what another instruction started."""


class Selection(Struct, frozen=True):
    """Subjects with a history, and those for which there was no room, each in their order."""

    kept: tuple[Subject, ...]
    left_out: tuple[Subject, ...]

    def left_out_names(self) -> set[str]:
        """Return the names of the instructions of subjects that were left out."""
        return {place.instruction for subject in self.left_out for place in subject.places}

    def left_out_ops(self) -> tuple[Subject, ...]:
        """Return the framework ops that were left out."""
        return tuple(subject for subject in self.left_out if _is_op(subject))


def select_subjects(
    snapshots: SnapshotSequence, subjects: Sequence[Subject], most: int
) -> Selection:
    """Return up to `most` subjects, the heavy ones first; what only passes values on comes last."""
    if len(subjects) <= most:
        return Selection(tuple(subjects), ())
    ranked = sorted(range(len(subjects)), key=lambda number: _rank(snapshots, subjects[number]))
    chosen = set(ranked[:most])
    return Selection(
        tuple(subject for number, subject in enumerate(subjects) if number in chosen),
        tuple(subject for number, subject in enumerate(subjects) if number not in chosen),
    )


def _rank(snapshots: SnapshotSequence, subject: Subject) -> int:
    """Return 0 for the heaviest subjects, and more for those that are left out earlier."""
    module = snapshots.modules[subject.number]
    lines = filter(None, (module.find(*place) for place in subject.places))
    opcodes = {line.opcode for line in lines}
    if any(opcode in _HEAVY or is_collective(opcode) for opcode in opcodes):
        return 0
    if _is_op(subject) or "fusion" in opcodes:
        return 1
    return 3 if opcodes <= _LIGHT else 2


def _is_op(subject: Subject) -> bool:
    """Return whether a subject is a framework op, not an instruction without op_name."""
    return subject.name != str(subject.places[0])
