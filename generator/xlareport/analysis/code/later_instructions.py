"""Final instructions that passes after the GPU fusion pass made: its log is not about them."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.history.instruction import SnapshotSequence, TrailPoint, sources_of
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.dump.modules import SnapshotFiles
from xlareport.hlo.graph import outside_fusions
from xlareport.hlo.model import InstructionKey
from xlareport.knowledge.grades import Grade
from xlareport.snapshots import ParsedSnapshot, final_snapshot

FUSION_STEP = "priority-fusion"
"""The pass that writes the log."""


class LaterStep(Struct, frozen=True):
    """The step after the fusion pass that made an instruction."""

    words: str
    """Such as ``by `all-reduce-contiguous` (0177)``; of a fusion that a later step made around one
    instruction, both steps."""
    grade: str
    """How sure it is that the instruction continues none of before that step."""


LaterInstructions = Mapping[InstructionKey, LaterStep]
"""Final instructions, fused ones aside, that did not exist when the fusion pass ran."""


def find_later_instructions(
    snapshots: Sequence[ParsedSnapshot], sequence: SnapshotSequence | None
) -> LaterInstructions:
    """Return the instructions that were made after the fusion pass, with the step of each.

    Empty without a snapshot after that pass. What was made of several instructions is older than
    the step if any of them is. An instruction whose trail is lost is not included.
    """
    final = final_snapshot(snapshots)
    numbers = [n for n, snapshot in enumerate(snapshots) if snapshot.stage.after == FUSION_STEP]
    if final is None or not numbers or sequence is None:
        return {}
    trails = _Trails(sequence, numbers[-1])
    last = next(number for number, snapshot in enumerate(snapshots) if snapshot is final)
    later = {}
    for computation, line in outside_fusions(final.hlo):
        origin = trails.beginning(last, Place(computation.name, line.name))
        if origin is not None and (grade := trails.grade(origin)) is not Grade.GUESSED:
            wrapped = trails.wrapping(last, Place(computation.name, line.name))
            words = _words_of(snapshots[origin[0]].stage)
            if wrapped is not None:
                number, inner = wrapped
                wrapper = _words_of(snapshots[number].stage)
                words = f"{wrapper}, around `{inner.instruction}`, which was made {words}"
            step = LaterStep(words, grade.value)
            later[computation.name, line.name] = step
    return later


class _Trails:
    """Follows instructions back to the fusion pass."""

    def __init__(self, sequence: SnapshotSequence, fusion_step: int) -> None:
        self._sequence = sequence
        self._fusion_step = fusion_step
        self._beginnings: dict[TrailPoint, TrailPoint | None] = {}

    def beginning(self, number: int, place: Place) -> TrailPoint | None:
        """Return the later step that made a place of a snapshot, and the place there; else None."""
        point = (self._sequence.change_index.step_to(place, number), place)
        if point not in self._beginnings:
            self._beginnings[point] = self._trace(point)
        return self._beginnings[point]

    def _trace(self, point: TrailPoint) -> TrailPoint | None:
        number, place = point
        matching = self._sequence.into(number) if number > self._fusion_step else None
        if matching is None:
            return None
        pairing = matching.pairing_after(place)
        if pairing is not None and pairing.relation is Relation.ADDED:
            return (
                point  # also a slice that takes the result of a former instruction out of another
            )
        sources = sources_of(matching, place)
        origins = [self.beginning(number - 1, source) for source in sources]
        if None in origins:
            return None
        return origins[0] if len(origins) == 1 else point

    def wrapping(self, number: int, place: Place) -> TrailPoint | None:
        """Return the step that made a fusion around one later instruction, and that instruction."""
        while (step := self._sequence.change_index.step_to(place, number)) > self._fusion_step:
            matching = self._sequence.into(step)
            sources = sources_of(matching, place) if matching else ()
            if matching is None or len(sources) != 1:
                return None
            before, after = matching.before.find(*sources[0]), matching.after.find(*place)
            if before and after and after.opcode == "fusion" != before.opcode:
                return step, sources[0]
            number, place = step - 1, sources[0]
        return None

    def grade(self, origin: TrailPoint) -> Grade:
        """Return how sure it is that a step made an instruction."""
        number, place = origin
        matching = self._sequence.into(number)
        pairing = matching.pairing_after(place) if matching else None
        return pairing.grade if pairing is not None else Grade.GUESSED


def _words_of(stage: SnapshotFiles) -> str:
    if stage.after is None or stage.sequence is None:
        return f"before {stage.place}"
    return f"by `{stage.after}` ({stage.key})"
