"""Histories as a report stores them, and read back: similar values together in columns.

Strings are folded, and numbers are stored as differences.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from msgspec import Struct

from xlareport.knowledge.grades import Grade
from xlareport.storage.rows import flat, split_rows
from xlareport.storage.string_folding import Folded, fold_strings, unfold_strings

_MOST_CHARACTERS = 1 << 28
"""Limit on characters of the strings of one column."""
_GRADES = {grade[0]: grade for grade in Grade}


class StoredEvent(Struct, frozen=True):
    """A `HistoryEvent` as stored in the site, with names for places.

    `and 3 more` ends a list that was cut.
    """

    number: int
    event: str
    instruction: str
    """`computation/%instruction`."""
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    confidence: str
    reason: str
    """At most 160 characters; empty for a mere new name."""


class StoredStandings(Struct, frozen=True):
    """Where a subject is in the first or the last snapshot."""

    count: int
    rows: tuple[tuple[str, str, str], ...]
    """The first ones: place, op_name, source."""


class StoredSubject(Struct, frozen=True):
    """The history of an instruction or an op."""

    title: str
    number: int | None
    """The index of the snapshot with this name; None for temporary instructions."""
    events: tuple[StoredEvent, ...]
    origins: StoredStandings
    now: StoredStandings


class StoredIndex(Struct, frozen=True):
    """The stored histories of a module, by the names that lead to them."""

    stages: tuple[tuple[str, str], ...]
    """Keys and labels of the snapshots."""
    chunk: int
    """Number of subjects in a chunk."""
    titles: Mapping[int, str]
    forward: int
    """The number of the first subject that is in the first snapshot."""
    between: int
    """The number of the first subject that is in neither the first nor the last."""
    names: Mapping[str, Sequence[int]]
    """The subjects that had each name, or absorbed an instruction with it."""
    left_out: Collection[str]
    """Framework ops of the first snapshot whose histories are not kept."""
    complete: bool
    """Whether the first and the last snapshot have no other subjects."""

    def snapshot_of(self, number: int) -> int | None:
        """Return the index of the snapshot in which a subject has its title."""
        if number >= self.between:
            return None
        return len(self.stages) - 1 if number < self.forward else 0


def read_index(value: Any) -> StoredIndex:
    """Return the index of a payload; raises ValueError, TypeError or LookupError."""
    first, between = value["between"]
    names, lengths, steps = value["names"]
    titles = dict(enumerate(_strings(value["titles"])))
    numbers = split_rows(lengths, list(accumulate(steps)))
    return StoredIndex(
        stages=tuple((str(key), str(label)) for key, label in value["stages"]),
        chunk=int(value["chunk"]),
        titles=titles | dict(enumerate(_strings(between), first)),
        forward=int(value["forward"]),
        between=int(first),
        names=dict(zip(_strings(names), numbers, strict=True)),
        left_out=frozenset(_strings(value["left_out"][0])),
        complete=bool(value["complete"]),
    )


def read_subject(index: StoredIndex, number: int, chunk: Any) -> StoredSubject:
    """Return a subject of the index from its chunk; raises as `read_index`."""
    place = number % index.chunk
    stored_events = [*_stored_events(chunk["events"])]
    rows = list(zip(*map(_strings, chunk["standings"]), strict=True))
    subjects = chunk["happened"]
    events = [stored_events[number] for number in _event_numbers(subjects, place)]
    return StoredSubject(
        title=index.titles[number],
        number=index.snapshot_of(number),
        events=tuple(events),
        origins=_standings(chunk["origins"], place, rows),
        now=_standings(chunk["now"], place, rows),
    )


def _event_numbers(subjects: Sequence[Sequence[int]], place: int) -> Iterator[int]:
    """Yield the numbers of a subject's events; -n represents the next n that none named before."""
    fresh = 0
    for number, events in enumerate(subjects[: place + 1]):
        for event in events:
            some = range(fresh, fresh - event) if event < 0 else (event,)
            fresh = max(fresh, some[-1] + 1)
            if number == place:
                yield from some


def _stored_events(columns: Sequence[Any]) -> Iterator[StoredEvent]:
    stages, kinds, instructions, sources, targets, grades, reasons = columns
    rows = zip(
        stages,
        _strings(kinds),
        _strings(instructions),
        _lists(sources),
        _lists(targets),
        _strings(grades),
        _strings(reasons),
        strict=True,
    )
    for number, kind, instruction, came, became, grade, reason in rows:
        yield StoredEvent(number, kind, instruction, came, became, _GRADES[grade], reason)


def _standings(value: Any, place: int, rows: Sequence[Sequence[str]]) -> StoredStandings:
    counts, lengths, steps = value
    numbers = split_rows(lengths, list(accumulate(steps)))[place]
    named = ((rows[number][0], rows[number][3], rows[number][4]) for number in numbers)
    return StoredStandings(int(counts[place]), tuple(named))


def _strings(listed: Sequence[Any]) -> list[str]:
    return unfold_strings(Folded(*listed), _MOST_CHARACTERS)


def _lists(value: Sequence[Any]) -> Iterator[tuple[str, ...]]:
    lengths, strings = value[:2]
    return map(tuple, split_rows(lengths, _strings(strings)))


def index_columns(index: Mapping[str, Any]) -> dict[str, Any]:
    """Return the index with its titles and names as columns."""
    first, *between = index["between"]
    names = index["names"]
    left_out = index["left_out"]
    return {
        **index,
        "titles": _fold(index["titles"]),
        "between": [first, _fold(between)],
        "names": [_fold(names), *_fold_distances(names.values())],
        "left_out": [_fold(op for op, _ in left_out), _fold_lists([some for _, some in left_out])],
    }


def chunk_columns(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chunk with each field of its subjects, standings and events as a column."""
    subjects, events = chunk["subjects"], _columns(chunk["events"], 7)
    stages, kinds, instructions, sources, targets, grades, reasons = events
    return {
        "instructions": [subject["instructions"] for subject in subjects],
        "happened": [subject["events"] for subject in subjects],
        "origins": _fold_counted([subject["origins"] for subject in subjects]),
        "now": _fold_counted([subject["now"] for subject in subjects]),
        "standings": [_fold(column) for column in _columns(chunk["standings"], 5)],
        "events": [
            stages,
            _fold(kinds),
            _fold(instructions),
            _fold_lists(sources),
            _fold_lists(targets),
            _fold(grades),
            _fold(reasons),
        ],
    }


def _columns(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    return [[row[place] for row in rows] for place in range(width)]


def _fold(values: Iterable[str]) -> list[Any]:
    return [*fold_strings(list(values)).listed()]


def _fold_lists(values: Sequence[Sequence[str | int]]) -> list[Any]:
    """Return how long each list is, all their strings, and by row the numbers at their ends."""
    names = [[name for name in row if isinstance(name, str)] for row in values]
    more = {str(place): row[-1] for place, row in enumerate(values) if len(row) > len(names[place])}
    lengths, strings = flat(names)
    return [lengths, _fold(strings), more]


def _fold_counted(values: Sequence[Sequence[int]]) -> list[Any]:
    """Return the counts that the lists begin with, how long the rest is, and its distances."""
    return [[value[0] for value in values], *_fold_distances([value[1:] for value in values])]


def _fold_distances(values: Iterable[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return how long each list is, and all their numbers as distances."""
    lengths, numbers = flat(values)
    return lengths, [after - before for before, after in pairwise([0, *numbers])]
