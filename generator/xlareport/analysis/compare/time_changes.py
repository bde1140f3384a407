"""Two profiles of one module: which instructions became slower.

Times are own times in one run of the module. Instructions are joined by the matching of the two
optimized modules. An instruction in a fusion counts as part of the fusion.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from math import hypot, sqrt

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import holders_of
from xlareport.analysis.profile.instruction_times import (
    PICOSECOND,
    ModuleTimes,
    entry_executions,
    sum_runs,
    total_microseconds,
)
from xlareport.analysis.profile.measured import (
    PartialTrace,
    find_cut,
    index_instructions,
    join_profile,
)
from xlareport.analysis.source.locations import op_name_of
from xlareport.analysis.source.scopes import scope_of
from xlareport.analysis.steps.differences import compare
from xlareport.analysis.steps.kinds import Kind
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.knowledge.grades import Grade, weakest
from xlareport.program import read_module
from xlareport.runtime.faults import guard
from xlareport.runtime.graphs import forest

MOST = 2_000
"""Limit on listed instructions of a module; the middle ones are left out."""
_MICROSECONDS = 1e6
"""In a second."""
_SURE = 2.0
"""Standard errors by which two means differ that do not differ by chance."""
_QUIET = frozenset({Kind.RENAMED, Kind.METADATA, Kind.REORDERED, Kind.REWIRED, Kind.SHARED})
_MOST_WORDS = 4
_SAME = "compiled the same"
_NO_SCOPE = "no scope"


class ProfiledSide(Struct, frozen=True, dict=True):
    """A final module with its profile."""

    module: HloModule
    times: ModuleTimes

    @cached_property
    def places(self) -> Mapping[str, tuple[Computation, Instruction]]:
        """The instructions by name."""
        return index_instructions(self.module)

    @cached_property
    def runs(self) -> int:
        """Number of runs; if runs cannot be separated, estimated from the entry's executions."""
        return sum_runs(self.times).count or entry_executions(self.times, self.module) or 1

    @property
    def seconds(self) -> float:
        """Seconds of one run."""
        return total_microseconds(self.times) / self.runs / 1e6

    @property
    def measured(self) -> list[str]:
        """The instructions that the module has and the profiler saw."""
        return [name for name in self.times.instructions if name in self.places]

    @property
    def joined(self) -> int:
        """Events of instructions that the module has."""
        return sum(self.times.instructions[name].count for name in self.measured)

    @cached_property
    def cut(self) -> PartialTrace | None:
        """Modules of which the trace recorded too few executions for a time per run."""
        counts = count_cost(self.module).instructions
        executions = {key: count.executions for key, count in counts.items()}
        return find_cut(join_profile(self.times, self.module, {}), executions)

    def own(self, names: Iterable[str]) -> float:
        """Return the own seconds of instructions in one run."""
        times = (self.times.instructions[name].own for name in names)
        return sum(times) * PICOSECOND / self.runs

    def error(self, names: Iterable[str]) -> float | None:
        """Return the standard error of `own`; None if an instruction ran only once."""
        seen = [self.times.instructions[name] for name in names]
        if any(op_time.count < 2 for op_time in seen):
            return None
        return (
            hypot(*(sqrt(op_time.count) * op_time.spread * PICOSECOND for op_time in seen))
            / self.runs
        )


class TimeChange(Struct, frozen=True):
    """The profiled times of an instruction in base and head, in microseconds of one run."""

    base: tuple[str, ...]
    """Names in the base; several after a merge or split, none for a new instruction."""
    head: tuple[str, ...]
    before: float
    """Own time: without instructions that ran inside it."""
    after: float
    grade: Grade
    """How sure it is that these are the same work."""
    certain: bool | None
    """Whether the times differ by more than the noise; None if unknown."""
    what: str
    """The changes in its compilation."""

    @property
    def more(self) -> float:
        """By how much it became slower."""
        return self.after - self.before


class ScopeChange(Struct, frozen=True):
    """The own time of all instructions of a scope, in microseconds of one run."""

    scope: str
    before: float
    after: float


class ComparedTimes(Struct, frozen=True):
    """Two profiles of a module."""

    base_runs: int
    head_runs: int
    before: float
    """Microseconds of one run, from the first instruction to the last."""
    after: float
    grade: str
    """`guessed` if several modules with the name may be the one that ran."""
    slower: int
    """Instructions that are slower outside noise."""
    instructions: tuple[TimeChange, ...]
    """The largest slowdown first; of many, the first and the last."""
    left_out: int
    scopes: tuple[ScopeChange, ...]


class TimingTask(Struct, frozen=True):
    """Two modules with the profiles of modules with their names."""

    base: ModuleFiles
    head: ModuleFiles
    base_times: ModuleTimes
    head_times: ModuleTimes


class Timing(Struct, frozen=True):
    """The result of a task."""

    times: ComparedTimes | None = None
    joined: tuple[int, int] = (0, 0)
    """Events of instructions that base and head have."""
    problem: str = ""


def time_modules(task: TimingTask) -> Timing:
    """Return the joined profiles of both modules; a fault affects only this pair."""
    return guard(lambda: _time_modules(task), lambda reason: untimed(task, reason))


def untimed(task: TimingTask, reason: str) -> Timing:
    """Return the result of a pair whose times could not be compared."""
    return Timing(problem=f"The times of {task.head.key} could not be compared: {reason}.")


def _time_modules(task: TimingTask) -> Timing:
    ours, theirs = read_module(task.base).final, read_module(task.head).final
    if ours is None or theirs is None:
        return Timing()
    base, head = ProfiledSide(ours.hlo, task.base_times), ProfiledSide(theirs.hlo, task.head_times)
    if not base.joined or not head.joined:
        return Timing()
    cut = base.cut or head.cut
    if cut is not None:
        counts = f"{cut.seen:,} of {cut.expected:,}"
        return untimed(task, f"a trace has {counts} executions of {cut.instruction}")
    return Timing(_compared(base, head), (base.joined, head.joined))


def _compared(base: ProfiledSide, head: ProfiledSide) -> ComparedTimes:
    changes, half = compare_times(base, head), MOST // 2
    listed = changes if len(changes) <= MOST else (*changes[:half], *changes[-half:])
    return ComparedTimes(
        base_runs=base.runs,
        head_runs=head.runs,
        before=base.seconds * _MICROSECONDS,
        after=head.seconds * _MICROSECONDS,
        grade="exact",
        slower=sum(change.certain is True and change.more > 0 for change in changes),
        instructions=listed,
        left_out=len(changes) - len(listed),
        scopes=scope_changes(base, head),
    )


def keep_best_joined(timings: Mapping[int, tuple[TimingTask, Timing]]) -> dict[int, Timing]:
    """Return the modules of each name that join the most instructions, as guesses if several do."""
    joined = {}
    for place, (task, timing) in timings.items():
        alike = [other for timing, other in timings.values() if _same_name(task, timing)]
        most = max(other.joined for other in alike)
        if timing.joined == most or timing.problem:
            doubtful = sum(other.joined == most for other in alike) > 1
            times = timing.times and replace(timing.times, grade="guessed")
            joined[place] = replace(timing, times=times) if doubtful else timing
    return joined


def _same_name(task: TimingTask, other: TimingTask) -> bool:
    return task.base.name == other.base.name or task.head.name == other.head.name


def compare_times(base: ProfiledSide, head: ProfiledSide) -> tuple[TimeChange, ...]:
    """Return the joined times of both profiles, the largest slowdown first."""
    same = base.module.computations == head.module.computations
    join = _Join(base, head, None if same else match(base.module, head.module))
    time_changes = (join.change(names) for names in join.groups())
    return tuple(
        sorted(
            time_changes,
            key=lambda time_change: (-time_change.more, time_change.head, time_change.base),
        )
    )


def scope_changes(base: ProfiledSide, head: ProfiledSide) -> tuple[ScopeChange, ...]:
    """Return both profiles summed by scope, the largest slowdown first."""
    ours, theirs = _scopes(base), _scopes(head)
    scope_changes = (
        ScopeChange(name, ours[name] * _MICROSECONDS, theirs[name] * _MICROSECONDS)
        for name in {**ours, **theirs}
    )
    return tuple(
        sorted(
            scope_changes,
            key=lambda scope_change: (scope_change.before - scope_change.after, scope_change.scope),
        )
    )


def _scopes(side: ProfiledSide) -> Counter[str]:
    counts = Counter[str]()
    for name in side.measured:
        op_name = op_name_of(side.places[name][1], side.module)
        counts[scope_of(op_name) or _NO_SCOPE] += side.own([name])  # type: ignore[assignment]
    return counts


class _Join:
    """Groups the measured instructions of base and head that do the same work, by a matching."""

    def __init__(self, base: ProfiledSide, head: ProfiledSide, matching: Matching | None) -> None:
        self._base, self._head, self._matching = base, head, matching
        self._seen = frozenset(base.measured)

    def groups(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Yield the names in base and head that continue each other."""
        links: dict[tuple[str, str], list[tuple[str, str]]] = {
            ("base", name): [] for name in self._base.measured
        }
        for name in self._head.measured:
            sources = [("base", source) for source in self._sources(name)]
            links["head", name] = sources
            for source in sources:
                links[source].append(("head", name))
        for group in forest(links, links.__getitem__):
            names = {side: sorted(n for s, n in group if s == side) for side in ("base", "head")}
            yield tuple(names["base"]), tuple(names["head"])

    def _sources(self, name: str) -> set[str]:
        """Return the measured instructions of the base that one of the head continues."""
        computation, instruction = self._head.places[name]
        sources = self._before(Place(computation.name, name))
        if not sources and instruction.opcode == "fusion":
            sources = {
                source for place in self._inside(instruction) for source in self._before(place)
            }
        return sources

    def _inside(self, instruction: Instruction) -> Iterator[Place]:
        for callee in self._head.module.callees(instruction):
            lines = callee.instructions
            yield from (Place(callee.name, line.name) for line in lines if line.operands)

    def _before(self, place: Place) -> set[str]:
        if self._matching is None:
            return {place.instruction} & self._seen
        pairing = self._matching.pairing_after(place)
        same = self._matching.partner_before(place)
        sources = pairing.before if pairing else (same,) if same else ()
        return {name for source in sources if (name := self._running(source)) is not None}

    def _running(self, place: Place) -> str | None:
        """Return the measured instruction of the base that is at a place or contains it."""
        holders = holders_of(self._base.module)
        for _ in range(len(self._base.module.computations) + 1):
            if place.instruction in self._seen:
                return place.instruction
            holder = holders.get(place.computation)
            if holder is None or holder.opcode != "fusion":
                return None
            place = Place(self._base.places[holder.name][0].name, holder.name)
        return None

    def change(self, names: tuple[tuple[str, ...], tuple[str, ...]]) -> TimeChange:
        """Return the times of a group, and the changes in its compilation."""
        base, head = names
        errors = self._base.error(base), self._head.error(head)
        before, after = self._base.own(base), self._head.own(head)
        both = [error for error in errors if error is not None] if base and head else []
        certain = abs(after - before) > _SURE * hypot(*both) if len(both) == 2 else None
        return TimeChange(
            base=base,
            head=head,
            before=before * _MICROSECONDS,
            after=after * _MICROSECONDS,
            grade=self._grade(base, head),
            certain=certain,
            what=self._what(base, head),
        )

    def _grade(self, base: tuple[str, ...], head: tuple[str, ...]) -> Grade:
        pairings = [pairing for pairing in map(self._pairing, head) if pairing is not None]
        apart = len(base) > 1 or len(head) > 1
        grades = [pairing.weakest.grade for pairing in pairings] + (
            [Grade.MATCHED] if apart else []
        )
        if (
            base
            and head
            and any(pairing is not None and not pairing.before for pairing in pairings)
        ):
            grades.append(Grade.GUESSED)
        return weakest(grades)

    def _pairing(self, name: str) -> Pairing | None:
        if self._matching is None:
            return None
        return self._matching.pairing_after(Place(self._head.places[name][0].name, name))

    def _what(self, base: tuple[str, ...], head: tuple[str, ...]) -> str:
        if self._matching is None:
            return _SAME
        if not base or not head:
            return "only in the head" if head else "only in the base"
        ours = [self._base.places[name][1] for name in base]
        theirs = [self._head.places[name][1] for name in head]
        phrases = [_inside(self._work(ours, self._base), self._work(theirs, self._head))]
        if len(ours) == len(theirs) == 1:
            value = compare(ours[0], theirs[0], self._matching.computations)
            phrases += [str(words) for kind, words in value.items() if kind not in _QUIET]
        return "; ".join(text for text in phrases if text) or _SAME

    def _work(self, lines: Iterable[Instruction], side: ProfiledSide) -> Counter[str]:
        """Return how often each opcode is in instructions, of fusions inside."""
        counts = Counter[str]()
        for line in lines:
            called = side.module.callees(line)
            inside = [instruction for callee in called for instruction in callee.instructions]
            counts.update(
                instruction.opcode for instruction in inside if instruction.opcode != "parameter"
            )
            counts.update([] if inside else [line.opcode])
        return counts


def _inside(base: Counter[str], head: Counter[str]) -> str:
    """Return which operations are more or fewer, those that changed most first."""
    changed = [(name, head[name] - base[name]) for name in {**base, **head}]
    ordered = sorted((item for item in changed if item[1]), key=lambda item: (-abs(item[1]), item))
    words = [f"{change:+d} {name}".replace("-", "\N{MINUS SIGN}", 1) for name, change in ordered]
    more = [f"{len(words) - _MOST_WORDS} more"] if len(words) > _MOST_WORDS else []
    return ", ".join([*words[:_MOST_WORDS], *more])
