"""The steps that created the slowest instructions of a final module."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.profile.measured import MeasuredRow
from xlareport.knowledge.grades import Grade

MOST = 50
"""Limit on instructions whose origin is searched."""
_MAKING = frozenset(
    {
        *(Event.ADDED, Event.CLONED, Event.CREATED, Event.EXPANDED, Event.MERGED),
        Event.UNTRACED,
        *(Event.REBUILT, Event.REPLACED),
    }
)


class Creation(Struct, frozen=True):
    """How an instruction came to be."""

    instruction: str
    number: int
    """The index of the first snapshot that contains it; 0 if it is part of the input."""
    grade: Grade


def find_creations(snapshots: SnapshotSequence, rows: Sequence[MeasuredRow]) -> Iterator[Creation]:
    """Yield how each of the first rows came to be, where its history is known."""
    last = len(snapshots.modules) - 1
    for row in rows[:MOST]:
        events = history(snapshots, last, Place(row.computation, row.instruction.name))
        making = [event for event in events if event.event in _MAKING]
        if making:
            yield Creation(row.instruction.name, making[-1].number, making[-1].confidence)
        elif events:
            yield Creation(row.instruction.name, 0, Grade.EXACT)
