"""The histories of a module: of every subject of its first and last snapshot, and by name.

Both ways: of what the last snapshot contains back to the framework's ops, of the ops forward.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history, order_events
from xlareport.analysis.history.roots import Relatives, find_descendants, find_roots, relatives_of
from xlareport.analysis.history.shared_constants import without_constants
from xlareport.analysis.history.subjects import Subject
from xlareport.analysis.history.trace import Ends, Trace, standings, trace_subject
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS

_FOLLOWED = 6
"""Limit on instructions of one op with events; their final instructions are all listed."""
_MOST_CONTRACTIONS = 2
"""Limit on contractions of one fusion whose earlier events are listed."""
ENDS = frozenset({Event.FIRST, Event.LAST})
"""Events that say no more than the lists of origins and descendants do."""
_GOES_ON = frozenset(
    {Event.CHANGED, Event.FUSED, Event.MOVED, Event.REBUILT, Event.RENAMED, Event.REPLACED}
)
"""Events after which an instruction is still the same one: its first source is its former name."""


class SubjectHistory(Struct, frozen=True):
    """The trace of a subject, and how many instructions the subject is."""

    trace: Trace
    instructions: int
    """Only the first few have events in the trace."""


def trace_subjects(
    snapshots: SnapshotSequence, subjects: Iterable[Subject]
) -> Iterator[SubjectHistory]:
    """Yield the history of each subject of the last snapshot, then of the first.

    What the instructions came from is dropped before what became of them is found.
    """
    for is_last, some in groupby(subjects, key=lambda subject: subject.number > 0):
        yield from (_trace_last if is_last else _trace_first)(snapshots, some)


def _trace_last(
    snapshots: SnapshotSequence, subjects: Iterable[Subject]
) -> Iterator[SubjectHistory]:
    roots = find_roots(snapshots)
    return (_trace_back(snapshots, subject, roots) for subject in subjects)


def _trace_first(
    snapshots: SnapshotSequence, subjects: Iterable[Subject]
) -> Iterator[SubjectHistory]:
    descendants = find_descendants(snapshots)
    return (_trace_forward(snapshots, subject, descendants) for subject in subjects)


def _trace_back(snapshots: SnapshotSequence, subject: Subject, roots: Relatives) -> SubjectHistory:
    place = subject.places[0]
    origins = roots[place.computation][place.instruction]
    trace = trace_subject(snapshots, subject, Ends(origins, subject.places))
    return SubjectHistory(_with_contractions(snapshots, trace), 1)


def _trace_forward(
    snapshots: SnapshotSequence, subject: Subject, descendants: Relatives
) -> SubjectHistory:
    places = subject.places
    few = replace(subject, places=places[:_FOLLOWED])
    trace = trace_subject(snapshots, few, Ends(places, relatives_of(few.places, descendants)))
    if len(places) > _FOLLOWED:
        last = snapshots.modules[-1]
        every = without_constants(last, relatives_of(places, descendants))
        trace = replace(trace, now=standings(last, every))
    return SubjectHistory(trace, len(places))


def _with_contractions(snapshots: SnapshotSequence, trace: Trace) -> Trace:
    """Add what passes did to the matmul of a fusion before the fusion was made.

    That of its first event is meant: before it, the fusion has no history of its own.
    """
    creation = next((event for event in trace.events if event.event not in ENDS), None)
    if creation is None or creation.number == 0:
        return trace
    module = snapshots.modules[creation.number - 1]
    contractions = [
        place
        for place in creation.sources
        if (line := module.find(*place)) and line.opcode in MATRIX_PRODUCTS
    ]
    earlier = [
        event
        for place in contractions[:_MOST_CONTRACTIONS]
        for event in history(snapshots, creation.number - 1, place)
        if event.number < creation.number
    ]
    return replace(trace, events=order_events([*earlier, *trace.events])) if earlier else trace


class HistoryNames:
    """The numbers of the histories that a name leads to: that had it, or else absorbed it."""

    def __init__(self, left_out: Collection[str] = ()) -> None:
        self._own: dict[str, list[int]] = {}
        self._parts: dict[str, list[int]] = {}
        self._left_out = left_out
        """Names of instructions of the first and last snapshot whose histories are not kept."""

    def add(self, number: int, trace: Trace) -> None:
        """Add every name that an instruction has in a trace."""
        named: dict[str, None] = dict.fromkeys(place.instruction for place in trace.subject.places)
        former: dict[str, None] = {}
        parts: dict[str, None] = {}
        for event in trace.events:
            named[event.instruction.instruction] = None
            if event.sources:
                if event.event in _GOES_ON:
                    former[event.sources[0].instruction] = None
                for place in event.sources:
                    parts[place.instruction] = None
        for name in named | former:
            self._own.setdefault(name, []).append(number)
        for name in parts:
            self._parts.setdefault(name, []).append(number)

    def knows(self, name: str) -> bool:
        """Return whether a subject had a name, one that was left out too."""
        return name in self._own or name in self._left_out

    def numbers(self) -> dict[str, list[int]]:
        """Return the numbers of histories by name."""
        return self._parts | self._own


def list_temporary(
    snapshots: SnapshotSequence, mentioned: Iterable[tuple[int, Iterable[str]]], names: HistoryNames
) -> Iterator[Subject]:
    """Yield the mentioned instructions that no history has: those that passes made and removed.

    `mentioned` are names with the number of the snapshot after the step that mentions them.
    """
    seen: set[Place] = set()
    for after, mentions in mentioned:
        unknown = [name for name in mentions if not names.knows(name)]
        if not unknown:
            continue
        homes = [(at, _homes(snapshots.modules[at], unknown)) for at in (after, after - 1)]
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


def trace_temporary(
    snapshots: SnapshotSequence, subjects: Iterable[Subject]
) -> Iterator[SubjectHistory]:
    """Yield the history of each subject that is in neither the first snapshot nor the last."""
    for subject in subjects:
        yield SubjectHistory(trace_subject(snapshots, subject), 1)
