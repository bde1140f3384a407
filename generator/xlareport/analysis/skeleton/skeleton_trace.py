"""A skeleton as a trace for Perfetto and chrome://tracing, to compare with a measured one.

Format: Trace Event Format, JSON Object Format (the document of that name by the Chromium project):
complete events (`ph: X`) with `ts` and `dur` in microseconds, and metadata events for the names of
lanes. Times are estimates. An item that waits for a collective is placed after its estimated end;
collectives share one lane, one after the other, and so do copies.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, nextafter
from typing import Any

from msgspec import Struct, field

from xlareport.analysis.skeleton.items import Lane, Skeleton, SkeletonItem, every_item

_PROCESS = 1
_LANES: Mapping[Lane, int] = {"compute": 1, "collectives": 2, "copies": 3}
_BESIDE = 4
"""The lane of other computations that run asynchronously."""
_FIRST_THREAD = 5
"""The lanes of execution threads, such as the sparse cores of a TPU."""
_MOST_EVENTS = 100_000
_FIRST_ITERATIONS = 3
"""Rounds of a loop that are drawn where all would be too many."""
_NANOSECONDS = 1e9


def make_trace(skeleton: Skeleton) -> dict[str, Any]:
    """Return the trace as a value for JSON."""
    timeline = _Timeline()
    timeline.run(skeleton.items)
    order = "XLA's schedule" if skeleton.is_scheduled else "topological, not scheduled"
    return {
        "traceEvents": [*_names(skeleton, timeline), *timeline.events],
        "displayTimeUnit": "ns",
        "otherData": {
            "what": "static execution skeleton by xlareport; times are estimates, not measured",
            "module": skeleton.module,
            "snapshot": skeleton.snapshot,
            "order": order,
            "times": f"{skeleton.time_name} on {skeleton.device} ({skeleton.device_grade})",
            "notDrawn": "; ".join(timeline.left_out),
        },
    }


def _names(skeleton: Skeleton, timeline: "_Timeline") -> Iterator[dict[str, Any]]:
    """Yield the metadata events: what the process and its lanes are called, and their order."""
    yield _metadata("process_name", 0, {"name": f"{skeleton.name} (estimates, not measured)"})
    lanes = {
        1: "compute",
        2: "collectives" if skeleton.links == "collectives" else f"collectives ({skeleton.links})",
        3: "copies and host",
        _BESIDE: "asynchronous computations",
        **{number: f"execution thread {name}" for name, number in timeline.threads.items()},
    }
    used = {event["tid"] for event in timeline.events} | {1}
    for number in sorted(used):
        yield _metadata("thread_name", number, {"name": lanes[number]})
        yield _metadata("thread_sort_index", number, {"sort_index": number})


def _metadata(name: str, lane: int, arguments: Mapping[str, object]) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": _PROCESS, "tid": lane, "args": dict(arguments)}


class _Timeline(Struct):
    """Runs the items by their estimated times, and notes what each lane does when."""

    events: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    threads: dict[str, int] = field(default_factory=dict)
    """The lane of each execution thread."""
    _now: float = 0.0
    """Seconds since the beginning, on the lane of compute."""
    _free: dict[int, float] = field(default_factory=dict)
    """The time at which each other lane becomes free."""
    _ends: dict[tuple[str, str], float] = field(default_factory=dict)
    """When what was begun asynchronously ends, by its computation and name."""
    _is_full: bool = False
    """Whether some item was left out because there are too many."""

    def run(self, items: Sequence[SkeletonItem]) -> None:
        """Run items one after the other."""
        for item in items:
            if len(self.events) >= _MOST_EVENTS:
                self._skip(item)
            elif item.kind == "done":
                self._wait(item)
            elif item.is_async:
                self._begin(item)
            elif item.children:
                self._hold(item)
            else:
                self._do(item)

    def _do(self, item: SkeletonItem) -> None:
        lane = _LANES[item.lane]
        begin = max(self._now, self._free.get(lane, 0.0))
        self._now = self._free[lane] = begin + (item.seconds or 0.0)
        self._add(item, lane, begin, self._now)

    def _begin(self, item: SkeletonItem) -> None:
        lane = _BESIDE if item.lane == "compute" else _LANES[item.lane]
        if item.thread:
            lane = self.threads.setdefault(item.thread, _FIRST_THREAD + len(self.threads))
        begin = max(self._now, self._free.get(lane, 0.0))
        end = self._free[lane] = begin + (item.seconds or 0.0)
        self._ends[item.computation, item.name] = end
        self._add(item, lane, begin, end)

    def _wait(self, item: SkeletonItem) -> None:
        end = self._ends.pop((item.computation, item.done), None)
        if end is not None and end > self._now:
            begin, self._now = self._now, end
            self._add(item, _LANES["compute"], begin, end)

    def _hold(self, item: SkeletonItem) -> None:
        place, begin = len(self.events), self._now
        if item.kind == "loop":
            self._loop(item)
        elif item.kind == "conditional":
            self.run([max(item.children, key=lambda branch: branch.seconds or 0.0)])
        else:
            self.run(item.children)
        self._add(item, _LANES["compute"], begin, self._now)
        self.events.insert(place, self.events.pop())

    def _loop(self, item: SkeletonItem) -> None:
        """Run the iterations of a loop; of very many the first few, and the others as one event."""
        iterations = 1 if item.trip_count is None else item.trip_count
        size = sum(1 for _ in every_item(item.children))
        fitting = (_MOST_EVENTS - len(self.events)) // max(1, size)
        drawn = iterations if iterations <= fitting else min(iterations, _FIRST_ITERATIONS)
        for number in range(drawn):
            place, begin = len(self.events), self._now
            self.run(item.children)
            self._iteration(f"iteration {number + 1} of {iterations}", place, begin)
        if drawn < iterations:
            per_trip = (item.seconds or 0.0) / iterations
            begin, self._now = self._now, self._now + per_trip * (iterations - drawn)
            self._iteration(f"iterations {drawn + 1} to {iterations}", len(self.events), begin)
            self.left_out.append(
                f"iterations {drawn + 1} to {iterations} of {item.name}, one event"
            )

    def _skip(self, item: SkeletonItem) -> None:
        if not item.is_async and item.kind != "done":
            self._now += item.seconds or 0.0
        if not self._is_full:
            self._is_full = True
            self.left_out.append(f"items after {item.name}: more than {_MOST_EVENTS:,} events")

    def _iteration(self, name: str, place: int, begin: float) -> None:
        event = _complete(name, "iteration", _LANES["compute"], begin, self._now)
        self.events.insert(place, event | {"args": {}})

    def _add(self, item: SkeletonItem, lane: int, begin: float, end: float) -> None:
        name = f"wait: {item.name}" if item.kind == "done" else item.name
        event = _complete(name, item.kind, lane, begin, end)
        self.events.append(event | {"args": _arguments(item)})


def _complete(name: str, category: str, lane: int, begin: float, end: float) -> dict[str, Any]:
    """Return a complete event in whole nanoseconds, so that those inside never end later."""
    first, last = round(begin * _NANOSECONDS), round(end * _NANOSECONDS)
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": _PROCESS,
        "tid": lane,
        "ts": to_microseconds(first),
        "dur": to_microseconds(last - first),
    }


def to_microseconds(nanoseconds: int) -> float:
    """Return a time as Perfetto reads it back: it multiplies by 1,000 and cuts what is left.

    Events that would then overlap by a nanosecond are dropped (json_trace_utils.cc, `CoerceToNs`).
    """
    value = nanoseconds / 1000
    return value if int(value * 1000) == nanoseconds else nextafter(value, inf)


def _arguments(item: SkeletonItem) -> dict[str, Any]:
    """Return the arguments of an event, which Perfetto shows."""
    is_timed = item.seconds is not None
    values = {
        "opcode": item.opcode,
        "computation": item.computation,
        "shape": item.shape,
        "scope": item.scope,
        "estimated_us": round(item.seconds * 1e6, 6) if item.seconds is not None else None,
        "trip_count": item.trip_count,
        "done": item.done,
        "note": item.note or ("" if is_timed or item.kind == "done" else "time not known"),
    }
    return {name: value for name, value in values.items() if value not in (None, "")}
