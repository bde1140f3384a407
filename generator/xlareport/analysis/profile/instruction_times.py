"""The time of each instruction: events are summed as they are read, so memory stays small.

Events of one thread nest (a loop contains its body) and those of several threads overlap. So an
instruction has its own time, without events inside it, and a run of a module is busy for the union
of the times. All times are picoseconds.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from math import sqrt
from operator import le
from types import MappingProxyType

from msgspec import Struct, field

from xlareport.analysis.profile.timeline import RunEvents, Timeline, build_timeline, select_runs
from xlareport.hlo.model import HloModule
from xlareport.readers.op_events import OpEvent

_MICROSECOND = 1_000_000
"""Picoseconds."""


class ModuleRuns(Struct, frozen=True):
    """How often a module ran while a profiler watched."""

    count: int | None
    """None if the profiler does not separate runs."""
    microseconds: float | None
    """From the first to the last operation of each run, summed; None if the trace is cut."""
    shared: bool = False
    """Whether some of the runs may be those of another module of the name."""


PICOSECOND = 1e-12
"""Seconds."""
MOST_INTERVALS = 4_000_000
"""Of events that are kept for the unions; runs that come later have none."""
MOST_DRAWN = 2_000_000
"""Events that are kept for timelines; runs that come later have none."""
MOST_NAMES = 300_000
"""Limit on events with a new instruction, run or thread; others are only counted."""


class OpTime(Struct):
    """All times of one instruction, by its name."""

    name: str
    count: int = 0
    total: int = 0
    """Includes events inside it."""
    own: int = 0
    """Excludes events inside it in the same thread."""
    squares: float = 0.0
    least: int = 0
    most: int = 0
    first: int = 0
    """When it began first."""

    @property
    def mean(self) -> float:
        """Return the mean of its times."""
        return self.total / self.count

    @property
    def spread(self) -> float:
        """Return the standard deviation of its times."""
        return sqrt(max(0.0, self.squares / self.count - self.mean**2))

    def add(self, event: OpEvent) -> None:
        """Count an event; all of its time is own time until an event inside it is seen."""
        length = event.duration
        self.least = min(self.least, length) if self.count else length
        self.first = min(self.first, event.start) if self.count else event.start
        self.most = max(self.most, length)
        self.count += 1
        self.total += length
        self.own += length
        self.squares += float(length) ** 2


NO_TIMES: Mapping[str, OpTime] = MappingProxyType({})
"""The times of a module without a profile."""


class RunTime(Struct, frozen=True):
    """A run of a module: a step, if the module is one."""

    name: str
    """The profiler's name; empty if it does not separate runs."""
    start: int
    length: int
    """From the beginning of its first event to the end of its last."""
    busy: int | None
    """Time in which at least one instruction ran; None if there were too many events."""


class ModuleTimes(Struct, frozen=True):
    """The profile of all modules with one name."""

    module: str
    instructions: Mapping[str, OpTime]
    runs: tuple[RunTime, ...]
    """By their beginning."""
    events: int
    steps: tuple[Timeline, ...] = ()
    """The median run and, where it is another one, the slowest."""

    @property
    def length(self) -> int:
        """Return the time of all runs."""
        return sum(run.length for run in self.runs)

    @property
    def shares(self) -> Mapping[str, float]:
        """Return the share of the time of all runs in which each instruction ran, by name.

        Includes events inside it; may exceed 1 where threads overlap.
        """
        whole = self.length
        return (
            {
                instruction.name: instruction.total / whole
                for instruction in self.instructions.values()
            }
            if whole
            else {}
        )

    @property
    def busy(self) -> int | None:
        """Return the time in which instructions ran, over all runs; None if one is unknown."""
        times = [run.busy for run in self.runs]
        return None if None in times else sum(number for number in times if number is not None)


class _Open(Struct):
    """An event of a thread that may contain others."""

    start: int
    end: int
    time: OpTime


class _Run(Struct):
    start: int
    end: int
    intervals: "dict[tuple[int, ...], array[int]]" = field(default_factory=dict)
    """By thread: start, end, start, end, ..."""
    is_whole: bool = True
    """Whether every event is among the intervals."""
    events: RunEvents | None = field(default_factory=lambda: RunEvents(array("q"), array("I")))
    """None if not all of them could be kept."""


class _ModuleEvents(Struct):
    instructions: dict[str, OpTime] = field(default_factory=dict)
    runs: dict[str, _Run] = field(default_factory=dict)
    events: int = 0
    names: dict[str, int] = field(default_factory=dict)
    """The numbers of instructions, in order of appearance."""
    threads: dict[tuple[int, ...], int] = field(default_factory=dict)


def sum_times(events: Iterable[OpEvent]) -> Mapping[str, ModuleTimes]:
    """Sum up events, each thread in the order of time, by the name of the module."""
    watch = _Watch()
    for event in events:
        watch.see(event)
    return {name: _module(name, module) for name, module in watch.modules.items()}


class _Watch:
    """The events so far."""

    def __init__(self) -> None:
        self.modules: dict[str, _ModuleEvents] = {}
        self._threads: dict[tuple[int, ...], list[_Open]] = {}
        self._kept = 0
        self._names = 0
        self._drawn = 0

    def see(self, event: OpEvent) -> None:
        """Count an event, unless it brings a name too many."""
        module = self.modules.get(event.module)
        time = module.instructions.get(event.instruction) if module else None
        run = module.runs.get(event.run) if module else None
        around = self._threads.get(event.thread)
        if module is None or time is None or run is None or around is None:
            if self._names >= MOST_NAMES:
                if module is not None:
                    module.events += 1
                return
            module, time, run, around = self._with_new_names(event)
        time.add(event)
        _nest(around, event, time)
        self._kept += _note_run(run, event, keep=self._kept < MOST_INTERVALS)
        if run.events is not None:
            self._drawn += _keep(module, run, event, keep=self._drawn < MOST_DRAWN)
        module.events += 1

    def _with_new_names(self, event: OpEvent) -> tuple[_ModuleEvents, OpTime, _Run, list[_Open]]:
        """Return the records for an event with a new name."""
        self._names += 1
        module = self.modules.setdefault(event.module, _ModuleEvents())
        time = module.instructions.setdefault(event.instruction, OpTime(event.instruction))
        run = module.runs.setdefault(event.run, _Run(event.start, event.end))
        return module, time, run, self._threads.setdefault(event.thread, [])


def _nest(around: list[_Open], event: OpEvent, time: OpTime) -> None:
    """Subtract an event's time from the innermost event that contains it."""
    start, end = event.start, event.start + event.duration
    while around and (around[-1].end < end or start < around[-1].start):
        around.pop()
    if around and around[-1].time is not time:
        around[-1].time.own -= event.duration
    around.append(_Open(start, end, time))


def _note_run(run: _Run, event: OpEvent, *, keep: bool) -> int:
    """Add an event to its run; return how many intervals more are kept."""
    start, end = event.start, event.start + event.duration
    run.start, run.end = min(run.start, start), max(run.end, end)
    run.is_whole = run.is_whole and keep
    if not run.is_whole:
        run.intervals.clear()
        return 0
    intervals = run.intervals.get(event.thread)
    if intervals is None:
        run.intervals[event.thread] = array("q", (start, end))
    elif intervals[-2] <= start <= intervals[-1]:
        intervals[-1] = max(intervals[-1], end)
        return 0
    else:
        intervals.extend((start, end))
    return 1


def _keep(module: _ModuleEvents, run: _Run, event: OpEvent, *, keep: bool) -> int:
    """Store an event of a run for its timeline; return 1 if it was stored, else 0."""
    if run.events is None or not keep:
        run.events = None
        return 0
    name = module.names.setdefault(event.instruction, len(module.names))
    thread = module.threads.setdefault(event.thread, len(module.threads))
    run.events.ends.extend((event.start, event.start + event.duration))
    run.events.marks.extend((name, thread))
    return 1


def _module(name: str, seen: _ModuleEvents) -> ModuleTimes:
    runs = [_run_time(key, run) for key, run in seen.runs.items()]
    ordered = tuple(sorted(runs, key=lambda run: run.start))
    return ModuleTimes(name, seen.instructions, ordered, seen.events, tuple(_steps(seen)))


def _steps(seen: _ModuleEvents) -> Iterator[Timeline]:
    """Yield the timelines of the median and the slowest run, among those with all events."""
    runs = sorted(seen.runs.items(), key=lambda item: item[1].start)
    candidates = [
        (place, name, run, run.events)
        for place, (name, run) in enumerate(runs, 1)
        if run.events is not None
    ]
    names = list(seen.names)
    for at in select_runs([run.end - run.start for _, _, run, _ in candidates]):
        number, name, run, events = candidates[at]
        yield build_timeline(name, events, run.start, names, number=number, among=len(candidates))


def _run_time(name: str, run: _Run) -> RunTime:
    busy = measure_union(run.intervals.values()) if run.is_whole else None
    return RunTime(name, run.start, run.end - run.start, busy)


def measure_union(threads: "Iterable[array[int]]") -> int:
    """Return the length of the union of intervals; each thread is start, end, start, end, ..."""
    covered, until = 0, 0
    for start, end in merge(*map(_ordered, threads)):
        covered += max(0, end - max(start, until))
        until = max(until, end)
    return covered


def _ordered(intervals: "array[int]") -> Iterable[tuple[int, int]]:
    starts = intervals[::2]
    pairs = zip(starts, intervals[1::2], strict=True)
    return pairs if all(map(le, starts, starts[1:])) else sorted(pairs)


def sum_runs(times: ModuleTimes) -> ModuleRuns:
    """Return number and time of the runs of a trace that is not cut; no number without names."""
    named = all(run.name for run in times.runs)
    return ModuleRuns(len(times.runs) if named else None, total_microseconds(times))


def total_microseconds(times: ModuleTimes) -> float:
    """Return the time of all runs; where they are not named, that of the instructions."""
    if all(run.name for run in times.runs):
        return times.length / _MICROSECOND
    return sum(instruction.own for instruction in times.instructions.values()) / _MICROSECOND


def entry_executions(times: ModuleTimes, module: HloModule) -> int | None:
    """Return the executions of most instructions of the entry; None if none was profiled."""
    names = [instruction.name for instruction in module.entry.instructions] if module.entry else []
    seen = (times.instructions.get(name) for name in names)
    counts = Counter(op_time.count for op_time in seen if op_time)
    return counts.most_common(1)[0][0] if counts else None
