"""The trace of a subject: its events, the ops it came from, and the instructions it became."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from msgspec import Struct

from xlareport.analysis.history.events import HistoryEvent
from xlareport.analysis.history.instruction import (
    SnapshotSequence,
    TrailPoint,
    ancestors,
    beginnings,
    descendants,
    history,
    order_events,
)
from xlareport.analysis.history.shared_constants import without_constants
from xlareport.analysis.history.subjects import Subject
from xlareport.analysis.history.trails import anchors_of, events_to
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.source.inlined_op_names import whole_op_name
from xlareport.analysis.source.locations import find_source
from xlareport.hlo.model import HloModule, Instruction

_BEGINNINGS = 4
_LOOKED_AT = 64
"""Limit on the additions that the foremost are chosen from."""
_Ranked: TypeAlias = "tuple[tuple[bool, bool, int], InstructionState]"


class InstructionState(NamedTuple):
    """An instruction as it is in a snapshot."""

    place: Place
    opcode: str
    shape: str
    op_name: str
    source: str
    """`file.py:12`; empty where the dump does not say."""


class Ends(NamedTuple):
    """Where a subject is in the first snapshot and in the last."""

    origins: Sequence[Place]
    now: Sequence[Place]


class Trace(Struct, frozen=True):
    """Everything that is known of a subject over the snapshots of its module."""

    subject: Subject
    events: tuple[HistoryEvent, ...]
    """By snapshot; those of all instructions that the subject is or becomes."""
    origins: tuple[InstructionState, ...]
    """Instructions of the first snapshot whose work it does."""
    now: tuple[InstructionState, ...]
    """Instructions of the last snapshot that do its work."""
    beginnings: tuple[HistoryEvent, ...]
    """Without origins, the additions it goes back to, up to a limit.

    Heavy instructions are first: the index that an all-reduce is sliced by says little.
    """


def trace_subject(snapshots: SnapshotSequence, subject: Subject, ends: Ends | None = None) -> Trace:
    """Trace a subject both ways; `ends` are its first and last instructions, where known."""
    first, last = 0, len(snapshots.modules) - 1
    ends = ends or _ends(snapshots, subject)
    now = without_constants(snapshots.modules[last], ends.now)
    origins = standings(snapshots.modules[first], ends.origins)
    fills = bool(origins) and not _compute(snapshots.modules[subject.number], subject.places)
    is_known = fills or _compute(snapshots.modules[first], ends.origins)
    begun = () if is_known else beginnings(snapshots, subject.number, subject.places)
    added = _foremost(snapshots, begun)
    return Trace(
        subject=subject,
        events=_ordered([*_events(snapshots, subject, now)]),
        origins=() if added else origins,
        now=standings(snapshots.modules[last], now),
        beginnings=added,
    )


def _foremost(
    snapshots: SnapshotSequence, begun: Iterable[HistoryEvent]
) -> tuple[HistoryEvent, ...]:
    """Return the additions that say most: heavy instructions, then the nearest, converts last."""
    known = sorted(islice(begun, _LOOKED_AT), key=lambda addition: _rank(snapshots, addition))
    return tuple(known[:_BEGINNINGS])


def _rank(snapshots: SnapshotSequence, addition: HistoryEvent) -> int:
    """Return a smaller number for what says more of where a value comes from.

    A backend puts converts around whatever it cannot do in a type: these are not what was added.
    """
    line = snapshots.modules[addition.number].find(*addition.instruction)
    return 2 if line is not None and line.opcode == "convert" else 1 - _is_heavy(line)


def _is_heavy(line: Instruction | None) -> bool:
    return line is not None and family_of(line) is not None


def _compute(module: HloModule, places: Iterable[Place]) -> bool:
    """Return whether one of some places is more than a constant for a new instruction."""
    return any(_computes(module, place) for place in places)


def _computes(module: HloModule, place: Place) -> bool:
    line = module.find(*place)
    if line is None or line.opcode == "constant":
        return False
    source = module.by_name[place.computation].operand(line)
    return line.opcode != "broadcast" or (source is not None and source.opcode != "constant")


def _ends(snapshots: SnapshotSequence, subject: Subject) -> Ends:
    return Ends(
        ancestors(snapshots, subject.number, subject.places),
        descendants(snapshots, subject.number, subject.places),
    )


def _events(
    snapshots: SnapshotSequence, subject: Subject, now: Iterable[Place]
) -> Iterator[tuple[HistoryEvent, ...]]:
    """Yield the history of each place, then of final instructions that these do not reach."""
    reached: set[Place] = set()
    own: list[HistoryEvent] = []
    for place in subject.places:
        history_events = history(snapshots, subject.number, place)
        reached.add(history_events[-1].instruction)
        own.extend(history_events)
        yield history_events
    last = len(snapshots.modules) - 1
    further = [place for place in now if place not in reached]
    anchors = anchors_of(subject.number, subject.places, own) if further else {}
    apart: set[TrailPoint] = set()
    for place in further:
        since = events_to(snapshots, last, place, anchors, apart)
        every = history(snapshots, last, place)
        if since is not None:
            yield (*since, *every[-1:])
        else:
            yield every if subject.number == 0 else _later(every, subject.number)


def _later(events: Iterable[HistoryEvent], number: int) -> tuple[HistoryEvent, ...]:
    return tuple([event for event in events if event.number > number])


def _ordered(histories: Sequence[tuple[HistoryEvent, ...]]) -> tuple[HistoryEvent, ...]:
    """Return the distinct events of histories; a single history is sorted already."""
    if len(histories) == 1:
        return histories[0]
    return order_events([*chain.from_iterable(histories)])


_STANDINGS: WeakKeyDictionary[HloModule, dict[Place, _Ranked]] = WeakKeyDictionary()
"""Many subjects begin or end at the same places."""


def standings(module: HloModule, places: Iterable[Place]) -> tuple[InstructionState, ...]:
    """Return the instructions at places: those from framework ops first, constants last.

    Among equals the largest result is first: an instruction that computes an index is seldom the
    one that is looked for.
    """
    ranks = _STANDINGS.setdefault(module, {})
    rows = [ranks.get(place) or ranks.setdefault(place, _ranked(module, place)) for place in places]
    return tuple(row for _, row in sorted(rows, key=lambda ranked: ranked[0]))


def _ranked(module: HloModule, place: Place) -> _Ranked:
    line, row = module.find(*place), standing(module, place)
    size = (line.shape.byte_size if line else None) or 0
    return (row.opcode == "constant", not row.op_name, -size), row


def standing(module: HloModule, place: Place) -> InstructionState:
    """Return the instruction at a place; all fields but the place are empty if there is none."""
    line = module.find(*place)
    if line is None:
        return InstructionState(place, "", "", "", "")
    message = whole_op_name(module, module.by_name[place.computation], line)
    return InstructionState(place, line.opcode, line.shape.text, message, find_source(line, module))
