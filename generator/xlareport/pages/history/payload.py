"""The histories of a module for the page script: an index of names, and chunks loaded on demand."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from xlareport.analysis.history.events import Event, HistoryEvent
from xlareport.analysis.history.instruction import SnapshotSequence, order_events
from xlareport.analysis.history.module_histories import (
    ENDS,
    HistoryNames,
    SubjectHistory,
    list_temporary,
    trace_subjects,
    trace_temporary,
)
from xlareport.analysis.history.selection import select_subjects
from xlareport.analysis.history.subjects import Subject, list_subjects
from xlareport.analysis.history.trace import InstructionState
from xlareport.analysis.matching.search.pairing import Place
from xlareport.pages import navigation
from xlareport.pages.history.stored import chunk_columns, index_columns
from xlareport.storage.payloads import Payload, make_payload

_MOST_SUBJECTS = 20_000
"""Limit on subjects of one module, the heavy ones first; of other ops the instructions are kept."""
_MOST_BETWEEN = 2_000
"""Limit on further subjects, which are in neither the first nor the last snapshot."""
_CHUNK = 1_000
_NAMES_LISTED = 40
_LONGEST_REASON = 160


def history_payloads(
    slug: str,
    snapshots: SnapshotSequence,
    stages: Sequence[tuple[str, str]],
    mentioned: Iterable[tuple[int, Iterable[str]]] = (),
) -> Iterator[Payload]:
    """Yield the index and the chunks as files; `stages` are keys and labels of the snapshots.

    `mentioned` are the names in the story of the step to each snapshot: those that neither the
    first snapshot nor the last has anything of get a history as well.
    """
    selection = select_subjects(snapshots, [*list_subjects(snapshots)], _MOST_SUBJECTS)
    names = HistoryNames(selection.left_out_names())
    key = navigation.module_key(slug, "history")
    shown = selection.kept
    yield from _chunks(key, 0, trace_subjects(snapshots, shown), names)
    between = list(islice(list_temporary(snapshots, mentioned, names), _MOST_BETWEEN))
    first = -(-len(shown) // _CHUNK) * _CHUNK
    yield from _chunks(key, first, trace_temporary(snapshots, between), names)
    index = {
        "stages": list(stages),
        "chunk": _CHUNK,
        "titles": [subject.name for subject in shown],
        "forward": sum(subject.number > 0 for subject in shown),
        "between": [first, *(subject.name for subject in between)],
        "names": names.numbers(),
        "left_out": [_op_places(op) for op in selection.left_out_ops()],
        "complete": not selection.left_out,
    }
    yield make_payload(key, index_columns(index))


def _op_places(op: Subject) -> tuple[str, list[str | int]]:
    """Return an op_name and its instructions of the first snapshot, the first few by place."""
    shown: list[str | int] = [str(place) for place in op.places[:_NAMES_LISTED]]
    more = len(op.places) - _NAMES_LISTED
    return op.name, [*shown, more] if more > 0 else shown


def _chunks(
    key: str, start: int, histories: Iterator[SubjectHistory], names: HistoryNames
) -> Iterator[Payload]:
    """Yield the chunks of histories, the first of which has the number `start`."""
    while some := tuple(islice(histories, _CHUNK)):
        for number, history in enumerate(some, start):
            names.add(number, history.trace)
        yield make_payload(f"{key}-{start // _CHUNK}", chunk_columns(_chunk(some)))
        start += _CHUNK


def _chunk(histories: Sequence[SubjectHistory]) -> dict[str, Any]:
    table, events = _InstructionStates(), _Events()
    return {
        "subjects": [_subject(history, table, events) for history in histories],
        "standings": table.rows,
        "events": events.rows,
    }


class _InstructionStates:
    """Standings, each once; subjects name them by number."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self._numbers: dict[InstructionState, int] = {}

    def number(self, standing: InstructionState) -> int:
        if standing not in self._numbers:
            self._numbers[standing] = len(self.rows)
            shape = _shortened(standing.shape)
            self.rows.append(
                [str(standing.place), standing.opcode, shape, standing.op_name, standing.source]
            )
        return self._numbers[standing]


class _Events:
    """Distinct events; an event of an instruction also belongs to its op."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._numbers: dict[int, int] = {}
        """Numbers by the identity of an event: equal events of one sequence are identical."""

    def numbers(self, events: Iterable[HistoryEvent]) -> list[int]:
        """Return the numbers of events; -n means that the next n are new."""
        numbers: list[int] = []
        for event in events:
            number = self._numbers.get(id(event))
            if number is not None:
                numbers.append(number)
                continue
            self._numbers[id(event)] = len(self.rows)
            self.rows.append(_event(event))
            if numbers and numbers[-1] < 0:
                numbers[-1] -= 1
            else:
                numbers.append(-1)
        return numbers


def _subject(history: SubjectHistory, table: _InstructionStates, events: _Events) -> dict[str, Any]:
    trace = history.trace
    happened = trace.events
    if trace.beginnings:
        happened = order_events((*trace.beginnings, *happened))
    return {
        "instructions": history.instructions,
        "events": events.numbers([event for event in happened if event.event not in ENDS]),
        "origins": _count_and_first(trace.origins, table),
        "now": _count_and_first(trace.now, table),
    }


def _count_and_first(standings: Sequence[InstructionState], table: _InstructionStates) -> list[int]:
    """Return how many there are, and the numbers of the first."""
    return [len(standings), *(table.number(standing) for standing in standings[:_NAMES_LISTED])]


def _event(event: HistoryEvent) -> list[Any]:
    """Return an event; names that it keeps, and the reason of a mere new name, go without saying.

    The grade is its first letter. A new fusion may have the name of one that it holds.
    """
    renamed, created = event.event is Event.RENAMED, event.event is Event.CREATED
    itself = event.instruction.instruction
    return [
        event.number,
        str(event.event),
        str(event.instruction),
        _names(event.sources, "" if created else itself),
        _names(event.became, itself),
        str(event.confidence)[0],
        "" if renamed else _shortened(_reason(event)),
    ]


def _reason(event: HistoryEvent) -> str:
    """Return the reason; metadata, which are without effect and long, are not quoted."""
    return "; ".join(filter(None, (event.why, "other metadata" if event.metadata else "")))


def _names(places: Sequence[Place], itself: str) -> list[str | int]:
    """Return the other names; a number at the end counts those that are not listed."""
    shown: list[str | int] = [
        place.instruction for place in places[:_NAMES_LISTED] if place.instruction != itself
    ]
    more = len(places) - _NAMES_LISTED
    return [*shown, more] if more > 0 else shown


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"
