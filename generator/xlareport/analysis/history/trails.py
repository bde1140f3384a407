"""The trails of instructions back to a subject: without those that it was merged with later."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from xlareport.analysis.history.events import Event, HistoryEvent
from xlareport.analysis.history.instruction import SnapshotSequence, TrailPoint
from xlareport.analysis.matching.search.pairing import Place

Anchors: TypeAlias = Mapping[Place, int]
"""Where a subject is known to be: the last such snapshot of each place, by its index."""
_Way: TypeAlias = "tuple[tuple[HistoryEvent, ...], _Way] | None"
"""The events of a trail from its end, the earliest first: each link with those after it."""
_MOST_TRAILS = 512
"""Limit on trails that are followed from one instruction."""
_GONE = frozenset({Event.INLINED, Event.REMOVED, Event.UNTRACED})
"""Events whose instruction is not there after them."""


def anchors_of(
    number: int, places: Iterable[Place], events: Iterable[HistoryEvent]
) -> dict[Place, int]:
    """Return where a subject is: its places in a snapshot, and where its own events put it."""
    anchors = dict.fromkeys(places, number)
    for event in events:
        if event.number > number:
            here = () if event.event in _GONE else (event.instruction,)
            anchors.update(dict.fromkeys((*here, *event.targets), event.number))
    return anchors


def events_to(
    snapshots: SnapshotSequence, number: int, place: Place, anchors: Anchors
) -> list[HistoryEvent] | None:
    """Return the events that lead from a subject to a place; None where no trail leads back."""
    events: list[HistoryEvent] | None = None
    start = (snapshots.change_index.step_to(place, number), place)
    waiting: deque[tuple[TrailPoint, _Way]] = deque([(start, None)])
    for _ in range(_MOST_TRAILS):
        if not waiting:
            break
        leads_back, way = _followed(snapshots, *waiting.popleft(), anchors, waiting)
        if leads_back:
            events = [*(events or ()), *_events(way)]
    return events


def _followed(
    snapshots: SnapshotSequence,
    point: TrailPoint,
    way: _Way,
    anchors: Anchors,
    waiting: deque[tuple[TrailPoint, _Way]],
) -> tuple[bool, _Way]:
    """Follow one trail back; return whether it leads to an anchor, and its events until there."""
    at: TrailPoint | None = point
    while at is not None:
        number, place = at
        if number <= anchors.get(place, -1):
            return True, way
        link = snapshots.link_before(at)
        way = (link.events, way)
        waiting.extend((joined, way) for joined in link.joined)
        at = link.following
    return False, way


def _events(way: _Way) -> Iterator[HistoryEvent]:
    while way is not None:
        events, way = way
        yield from events
