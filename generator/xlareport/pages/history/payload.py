"""The histories of a module for the page script: an index of names, and chunks loaded on demand.

Both ways: of what the last snapshot contains back to the framework's ops, of the ops forward.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.history.all_subjects import list_subjects
from xlareport.analysis.history.events import Event, HistoryEvent
from xlareport.analysis.history.instruction import (
    SnapshotSequence,
    history,
    order_by_stage,
)
from xlareport.analysis.history.roots import Relatives, find_heirs, find_roots
from xlareport.analysis.history.subjects import Subject
from xlareport.analysis.history.trace import (
    Ends,
    Standing,
    Trace,
    standings,
    trace_subject,
)
from xlareport.analysis.matching.pairing import Place
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS
from xlareport.pages import navigation
from xlareport.pages.history.columns import chunk_columns, index_columns
from xlareport.storage.payloads import Payload, make_payload

_MOST_SUBJECTS = 20_000
"""Limit on subjects of one module; the others are left to the command line."""
_MOST_BETWEEN = 2_000
"""Limit on further subjects, which are in neither the first nor the last snapshot."""
_CHUNK = 1_000
_FOLLOWED = 6
"""Limit on instructions of one op with events; their final instructions are all listed."""
_NAMES_LISTED = 40
_LONGEST_REASON = 160

_MOST_CONTRACTIONS = 2
"""Limit on contractions of one fusion whose earlier events are listed."""
_ENDS = frozenset({Event.FIRST, Event.LAST})
"""Events that say no more than the lists of origins and heirs do."""
_GOES_ON = frozenset(
    {Event.CHANGED, Event.FUSED, Event.MOVED, Event.REBUILT, Event.RENAMED, Event.REPLACED}
)
"""Events after which an instruction is still the same one: its first source is its former name."""


class _Followed(Struct, frozen=True):
    """A trace, and how many instructions the subject is where not all were followed."""

    trace: Trace
    instructions: int


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
    subjects = list(islice(list_subjects(snapshots), _MOST_SUBJECTS + 1))
    family = find_roots(snapshots), find_heirs(snapshots)
    names = _Names()
    key = navigation.module_key(slug, "history")
    result = subjects[:_MOST_SUBJECTS]
    follow = partial(_follow, snapshots, before=family[0], after=family[1])
    yield from _chunks(key, 0, result, follow, names)
    between = list(islice(_between(snapshots, mentioned, names), _MOST_BETWEEN))
    first = -(-len(result) // _CHUNK) * _CHUNK
    yield from _chunks(key, first, between, partial(_follow_between, snapshots), names)
    index = {
        "stages": list(stages),
        "chunk": _CHUNK,
        "titles": [subject.name for subject in result],
        "forward": sum(subject.stage > 0 for subject in result),
        "between": [first, *(subject.name for subject in between)],
        "names": names.everyone(),
        "complete": len(subjects) <= _MOST_SUBJECTS,
    }
    yield make_payload(key, index_columns(index))


def _chunks(
    key: str,
    start: int,
    subjects: Sequence[Subject],
    follow: Callable[[Subject], _Followed],
    names: "_Names",
) -> Iterator[Payload]:
    """Yield the chunks of subjects; the first subject has the number `start`."""
    for first in range(0, len(subjects), _CHUNK):
        followed = [follow(subject) for subject in subjects[first : first + _CHUNK]]
        for number, this_followed in enumerate(followed, start + first):
            names.add(number, this_followed.trace)
        chunk = f"{key}-{(start + first) // _CHUNK}"
        yield make_payload(chunk, chunk_columns(_chunk(followed)))


def _between(
    snapshots: SnapshotSequence, mentioned: Iterable[tuple[int, Iterable[str]]], names: "_Names"
) -> Iterator[Subject]:
    """Yield instructions that stories mention and no subject had: temporary ones."""
    seen: set[Place] = set()
    for stage, words in mentioned:
        unknown = [name for name in words if not names.knows(name)]
        if not unknown:
            continue
        homes = [(at, _homes(snapshots.modules[at], unknown)) for at in (stage, stage - 1)]
        for name in unknown:
            number, home = next(((at, some[name]) for at, some in homes if name in some), (0, ""))
            place = Place(home, name)
            if home and place not in seen:
                seen.add(place)
                yield Subject(str(place), number, (place,))


def _homes(module: HloModule, names: Iterable[str]) -> Mapping[str, str]:
    """Return the first computation with an instruction of each name."""
    homes: dict[str, str] = {}
    left = set(names)
    for computation in module.computations:
        here = left & computation.by_name.keys()
        homes.update(dict.fromkeys(here, computation.name))
        left -= here
    return homes


def _follow_between(snapshots: SnapshotSequence, subject: Subject) -> _Followed:
    return _Followed(trace_subject(snapshots, subject), 1)


def _follow(
    snapshots: SnapshotSequence, subject: Subject, before: Relatives, after: Relatives
) -> _Followed:
    places = subject.places
    if subject.stage > 0:
        origins = before[places[0].computation][places[0].instruction]
        result = trace_subject(snapshots, subject, Ends(origins, places))
        return _Followed(_with_contractions(snapshots, result), 1)
    few = replace(subject, places=places[:_FOLLOWED])
    result = trace_subject(snapshots, few, Ends(places, _heirs(few.places, after)))
    if len(places) > _FOLLOWED:
        last = snapshots.modules[-1]
        now = standings(last, _heirs(places, after))
        result = replace(result, now=now)
    return _Followed(result, len(places))


def _with_contractions(snapshots: SnapshotSequence, trace: Trace) -> Trace:
    """Add what passes did to the matmul of a fusion before the fusion was made.

    That of its first event is meant: before it, the fusion has no history of its own.
    """
    creation = next((event for event in trace.events if event.event not in _ENDS), None)
    if creation is None or creation.stage == 0:
        return trace
    module = snapshots.modules[creation.stage - 1]
    contractions = [
        place
        for place in creation.sources
        if (line := module.find(*place)) and line.opcode in MATRIX_PRODUCTS
    ]
    earlier = [
        event
        for place in contractions[:_MOST_CONTRACTIONS]
        for event in history(snapshots, creation.stage - 1, place)
        if event.stage < creation.stage
    ]
    return replace(trace, events=order_by_stage([*earlier, *trace.events])) if earlier else trace


def _heirs(places: Sequence[Place], after: Relatives) -> tuple[Place, ...]:
    every = (after[place.computation][place.instruction] for place in places)
    return tuple(dict.fromkeys(heir for some in every for heir in some))


class _Names:
    """Index from instruction name to history numbers. Unknown names lead to what absorbed them."""

    def __init__(self) -> None:
        self._own: dict[str, list[int]] = {}
        self._parts: dict[str, list[int]] = {}

    def add(self, number: int, trace: Trace) -> None:
        own: dict[str, None] = dict.fromkeys(place.instruction for place in trace.subject.places)
        former: dict[str, None] = {}
        parts: dict[str, None] = {}
        for event in trace.events:
            own[event.instruction.instruction] = None
            if event.sources:
                if event.event in _GOES_ON:
                    former[event.sources[0].instruction] = None
                for place in event.sources:
                    parts[place.instruction] = None
        for name in own | former:
            self._own.setdefault(name, []).append(number)
        for name in parts:
            self._parts.setdefault(name, []).append(number)

    def knows(self, name: str) -> bool:
        """Return whether a subject had a name."""
        return name in self._own

    def everyone(self) -> dict[str, list[int]]:
        return self._parts | self._own


def _chunk(followed: Sequence[_Followed]) -> dict[str, Any]:
    table, events = _Standings(), _Events()
    return {
        "subjects": [_subject(subject, table, events) for subject in followed],
        "standings": table.rows,
        "events": events.rows,
    }


class _Standings:
    """Standings, each once; subjects name them by number."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self._numbers: dict[Standing, int] = {}

    def number(self, standing: Standing) -> int:
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


def _subject(followed: _Followed, table: _Standings, events: _Events) -> dict[str, Any]:
    result = followed.trace
    happened = result.events
    if result.beginnings:
        happened = order_by_stage((*result.beginnings, *happened))
    return {
        "instructions": followed.instructions,
        "events": events.numbers([event for event in happened if event.event not in _ENDS]),
        "origins": _listed(result.origins, table),
        "now": _listed(result.now, table),
    }


def _listed(standings: Sequence[Standing], table: _Standings) -> list[int]:
    """Return how many there are, and the numbers of the first."""
    return [len(standings), *(table.number(standing) for standing in standings[:_NAMES_LISTED])]


def _event(event: HistoryEvent) -> list[Any]:
    """Return an event; names that it keeps, and the reason of a mere new name, go without saying.

    The grade is its first letter.
    """
    renamed = event.event is Event.RENAMED
    return [
        event.stage,
        str(event.event),
        str(event.instruction),
        _names(event.sources, event.instruction),
        _names(event.targets, event.instruction),
        str(event.confidence)[0],
        "" if renamed else _shortened(_reason(event)),
    ]


def _reason(event: HistoryEvent) -> str:
    """Return the reason; metadata, which are without effect and long, are not quoted."""
    return "; ".join(filter(None, (event.why, "other metadata" if event.metadata else "")))


def _names(places: Sequence[Place], itself: Place) -> list[str | int]:
    """Return the other names; a number at the end counts those that are not listed."""
    shown: list[str | int] = [
        place.instruction
        for place in places[:_NAMES_LISTED]
        if place.instruction != itself.instruction
    ]
    more = len(places) - _NAMES_LISTED
    return [*shown, more] if more > 0 else shown


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"
