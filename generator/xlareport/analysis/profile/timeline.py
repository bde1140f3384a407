"""One run of a module as bars: instructions over time, by thread and nesting.

The number of bars is limited: the longest events have a bar each, and consecutive short ones share
a bar with their number. All times are picoseconds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from array import array

MOST_BARS = 1_500
"""Events that have a bar of their own."""
MOST_LANES = 80
"""Rows of bars; the threads that did least are left out beyond that."""
_SLICES = 1_600
"""Limit on time slices in which short events share a bar, over all lanes."""
_ROUNDED = 1_000
"""By how much an event may begin before the one that it follows ends, where clocks round."""


class Lane(Struct, frozen=True):
    """A row of bars."""

    thread: int
    """Number from 1, in order of appearance."""
    depth: int
    """Nesting depth of its events."""


class Bar(Struct, frozen=True):
    """An event, or several consecutive ones."""

    lane: int
    start: int
    """Since the run began."""
    length: int
    """Of several from the beginning of the first to the end of the last."""
    instruction: str
    """Empty for several."""
    count: int = 1


class Timeline(Struct, frozen=True):
    """A run of a module."""

    run: str
    """The profiler's name; empty if it does not separate runs."""
    number: int
    """From 1, in the order of time."""
    among: int
    """Runs from the first on among which it was chosen; later ones were too many to keep."""
    start: int
    length: int
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    """In each lane by their beginning."""
    merged: int
    """Events that share a bar with others."""
    left_out: int
    """Events of threads that are not shown."""


class RunEvents(Struct):
    """The events of a run as they came."""

    ends: "array[int]"
    """start, end, start, end, ..."""
    marks: "array[int]"
    """The numbers of instruction and thread, in turn."""


class _Event(Struct, frozen=True):
    lane: Lane
    start: int
    end: int
    name: int


def build_timeline(
    run: str, events: RunEvents, start: int, names: Sequence[str], *, number: int, among: int
) -> Timeline:
    """Return a run that began at `start` as bars; `names` are those of instructions."""
    placed = list(_placed(events))
    lanes = _busiest_lanes(placed)
    seen = [event for event in placed if event.lane in lanes]
    bars = sorted(
        _bars(seen, lanes, start, names), key=lambda bar: (bar.lane, bar.start, -bar.length)
    )
    return Timeline(
        run=run,
        number=number,
        among=among,
        start=start,
        length=max((event.end for event in placed), default=start) - start,
        lanes=tuple(lanes),
        bars=tuple(bars),
        merged=sum(bar.count for bar in bars if bar.count > 1),
        left_out=len(placed) - len(seen),
    )


def _placed(events: RunEvents) -> Iterator[_Event]:
    """Yield the events of each thread in order of time, with their nesting depth."""
    starts, ends = events.ends[::2], events.ends[1::2]
    names, threads = events.marks[::2], events.marks[1::2]
    around: list[int] = []
    before = -1
    for thread, start, minus_end, name in sorted(
        zip(threads, starts, (-end for end in ends), names, strict=True)
    ):
        around = around if thread == before else []
        before = thread
        while around and around[-1] <= start + _ROUNDED:
            around.pop()
        yield _Event(Lane(thread + 1, len(around)), start, -minus_end, name)
        around.append(-minus_end)


def _busiest_lanes(placed: Sequence[_Event]) -> dict[Lane, int]:
    """Return the lanes of the busiest threads, up to a limit, with their numbers."""
    busy, deepest = Counter[int](), Counter[int]()
    for event in placed:
        thread = event.lane.thread
        busy[thread] += 0 if event.lane.depth else event.end - event.start
        deepest[thread] = max(deepest[thread], event.lane.depth)
    room = MOST_LANES
    shown: list[int] = []
    for thread, _ in busy.most_common():
        if shown and deepest[thread] + 1 > room:
            break
        shown.append(thread)
        room -= deepest[thread] + 1
    lanes = [
        Lane(thread, depth) for thread in sorted(shown) for depth in range(deepest[thread] + 1)
    ]
    return {lane: number for number, lane in enumerate(lanes[:MOST_LANES])}


def _bars(
    seen: Sequence[_Event], lanes: dict[Lane, int], start: int, names: Sequence[str]
) -> Iterator[Bar]:
    """Yield a bar for each of the longest events, and for short neighbors of a slice of time."""
    places = range(len(seen))
    longest = set(nlargest(MOST_BARS, places, key=lambda at: seen[at].end - seen[at].start))
    until = max((event.end for event in seen), default=start)
    piece = max(1, (until - start) * max(1, len(lanes)) // _SLICES)
    waiting: dict[Lane, list[_Event]] = {}
    for at, event in enumerate(seen):
        short = waiting.setdefault(event.lane, [])
        apart = at in longest
        if short and (apart or (event.start - start) // piece != (short[0].start - start) // piece):
            yield _together(short, lanes, start, names)
            short.clear()
        if apart:
            yield _together([event], lanes, start, names)
        else:
            short.append(event)
    yield from (_together(events, lanes, start, names) for events in waiting.values() if events)


def _together(
    events: Sequence[_Event], lanes: dict[Lane, int], start: int, names: Sequence[str]
) -> Bar:
    first = events[0]
    return Bar(
        lane=lanes[first.lane],
        start=first.start - start,
        length=max(event.end for event in events) - first.start,
        instruction=names[first.name] if len(events) == 1 else "",
        count=len(events),
    )


def select_runs(lengths: Sequence[int]) -> list[int]:
    """Return the places of the median run and, where it is another one, of the slowest."""
    ordered = sorted(range(len(lengths)), key=lambda at: (lengths[at], at))
    if not ordered:
        return []
    median, slowest = ordered[(len(ordered) - 1) // 2], ordered[-1]
    return [median] if lengths[median] == lengths[slowest] else [median, slowest]
