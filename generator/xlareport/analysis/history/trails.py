"""The trails of instructions back to a subject: without those that it was merged with later."""

from collections import deque
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from xlareport.analysis.history.events import Event, HistoryEvent
from xlareport.analysis.history.instruction import SnapshotSequence, TrailPoint
from xlareport.analysis.matching.search.pairing import Place
from xlareport.runtime.graphs import reachable

Anchors: TypeAlias = Mapping[Place, int]
"""Where a subject is known to be: the last such snapshot of each place, by its index."""
_MOST_POINTS = 20_000
"""Limit on changes of instructions that are followed back from one place."""
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
    snapshots: SnapshotSequence,
    number: int,
    place: Place,
    anchors: Anchors,
    apart: set[TrailPoint],
) -> list[HistoryEvent] | None:
    """Return the events that lead from a subject to a place; None where no trail leads back.

    `apart` collects points that no trail leads to from the subject, for further places.
    """
    start = (snapshots.change_index.step_to(place, number), place)
    if start in apart:
        return None
    later, anchored, is_whole = _trails_back(snapshots, start, anchors, apart)
    after = (point for anchor in anchored for point in later[anchor])
    leading = sorted(reachable(after, later.__getitem__))
    if is_whole:
        apart.update(later.keys() - {*leading, *anchored})
    if not anchored:
        return None
    return [event for point in leading for event in snapshots.link_before(point).events]


def _trails_back(
    snapshots: SnapshotSequence, start: TrailPoint, anchors: Anchors, apart: AbstractSet[TrailPoint]
) -> tuple[dict[TrailPoint, list[TrailPoint]], list[TrailPoint], bool]:
    """Return what follows each point of the trails to a place, and the points at an anchor.

    Each point is followed once, however many trails lead through it, and none that is apart. Also
    return whether all were followed.
    """
    later: dict[TrailPoint, list[TrailPoint]] = {start: []}
    anchored, waiting = list[TrailPoint](), deque([start])
    while waiting and len(later) < _MOST_POINTS:
        point = waiting.popleft()
        if point[0] <= anchors.get(point[1], -1):
            anchored.append(point)
            continue
        _, following, joined = snapshots.link_before(point)
        for former in (following, *joined) if following else joined:
            if former in apart:
                continue
            known = later.get(former)
            if known is None:
                later[former] = [point]
                waiting.append(former)
            else:
                known.append(point)
    return later, anchored, not waiting
