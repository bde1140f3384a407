"""Whether a difference matters: time and memory of the main program, and the certainty.

Time is measured if both sides have profiles, else the roofline time. Memory is the peak if the dump
states it, else the allocated memory.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.compare.causes import find_changes
from xlareport.analysis.compare.comparability import Obstacle, find_obstacle, find_time_obstacle
from xlareport.analysis.compare.comparison import Comparison, Quantity, compare_figure
from xlareport.analysis.compare.module_facts import ESTIMATE, MEMORY
from xlareport.analysis.compare.program_changes import ChangeKind
from xlareport.analysis.compare.time_changes import ComparedTimes
from xlareport.knowledge.grades import Grade

_NOISE = 0.005
"""A share; a measured time or a size that changes by less counts as equal."""
_ESTIMATED_NOISE = 0.01
"""The same of an estimate."""
_LEAST_NANOSECONDS = 100
"""Less counts as equal, whatever its share: one access to device memory takes longer than that."""
_LEAST_BYTES = 16 << 10
"""Less counts as equal, whatever its share: the padding of four small arrays, of 4 KiB on a TPU."""
_RESOLUTION = 0.1
"""Relative change that an estimate for a guessed device can resolve.

Such an estimate has neither latency nor launch overhead, and its speeds are of no real chip.
"""
_LEAST_WORK = 0.01
"""Relative change of FLOPs from which it is compared with the change of time."""
_IN_STEP = 0.1
"""Of the change of FLOPs; so much more time per FLOP still is time that rose with the work."""
_LARGEST_STEP = 0.05
"""A share; the same at most, however much FLOPs changed."""
_GRADES = dict.fromkeys(("exact", "matched", "others", "chosen"), Grade.MATCHED)


class Direction(StrEnum):
    """The direction of a figure's change."""

    SAME = "same"
    MORE = "more"
    LESS = "less"
    UNKNOWN = "unknown"


class Basis(StrEnum):
    """The source of a judgement."""

    MEASURED = "measured"
    ROOFLINE = "roofline"
    PEAK = "peak"
    ALLOCATED = "allocated"
    CODE = "code"
    """Both sides end in the same optimized HLO, with the same options."""
    HLO = "hlo"
    """Both end in the same optimized HLO; options differ, and may change the code made of it."""
    NONE = "none"


class Judgement(Struct, frozen=True):
    """One figure of both sides, and its assessment."""

    direction: Direction
    basis: Basis
    grade: Grade
    quantity: Quantity | None = None
    """In nanoseconds, or bytes; None where it is not known on both sides."""
    device: str = ""
    """For which a time is estimated."""
    base_runs: int = 0
    head_runs: int = 0
    """Measured runs."""
    obstacle: Obstacle = Obstacle.NONE
    """Why it is not known, where both have figures."""
    floor: int = 0
    """In the unit of the figure: its change is less and thus does not count; 0 for others."""

    @property
    def is_resolved(self) -> bool:
        """Return whether a change is larger than the figure's resolution."""
        is_estimate = self.basis is Basis.ROOFLINE and self.grade is Grade.GUESSED
        if not is_estimate or self.direction is Direction.SAME:
            return True
        change = self.quantity.change if self.quantity else None
        return change is None or abs(change) >= _RESOLUTION


class WorkChange(Struct, frozen=True):
    """A program that was changed to do more or less: its FLOPs, and the time per FLOP."""

    flops: float
    """The change as a share of the base."""
    time_per_flop: float
    """The same."""

    @property
    def explains_time(self) -> bool:
        """Whether more work explains the longer time: it grew hardly more than the FLOPs."""
        return self.flops > 0 and self.time_per_flop <= min(_IN_STEP * self.flops, _LARGEST_STEP)

    def explains(self, memory: Judgement) -> bool:
        """Return whether memory rose no more than FLOPs."""
        change = memory.quantity.change if memory.quantity else None
        return change is not None and change <= self.flops * (1 + _IN_STEP)


class Verdict(Struct, frozen=True):
    """The cost of the head relative to the base."""

    time: Judgement
    memory: Judgement
    work: WorkChange | None = None
    """None where the program is the same, its FLOPs hardly changed, or they are not known."""

    @property
    def matters(self) -> bool:
        """Whether time or memory of the main program changed."""
        moved = (Direction.MORE, Direction.LESS)
        return self.time.direction in moved or self.memory.direction in moved


_UNKNOWN = Judgement(Direction.UNKNOWN, Basis.NONE, Grade.GUESSED)
NO_VERDICT = Verdict(_UNKNOWN, _UNKNOWN)


def judge(comparison: Comparison, times: ComparedTimes | None) -> Verdict:
    """Return the verdict on a pair of modules; modules of one side cannot be judged."""
    quantities = {quantity.name: quantity for quantity in comparison.quantities}
    if comparison.base is None or comparison.head is None:
        return NO_VERDICT
    obstacle = find_obstacle(comparison)
    if obstacle and times is None:
        unknown = replace(_UNKNOWN, obstacle=obstacle)
        return Verdict(unknown, unknown)
    time = _time(comparison, quantities, times)
    work = _work(comparison, quantities, time)
    return Verdict(time, _memory(comparison, quantities), work)


def change_of_work(time: Judgement, flops: Quantity | None) -> WorkChange | None:
    """Return the change of FLOPs, and of time per FLOP; None if either is unknown or small."""
    quantity = time.quantity
    if time.direction is Direction.UNKNOWN or quantity is None or quantity.change is None:
        return None
    if flops is None or flops.change is None or flops.change <= -1:
        return None
    if abs(flops.change) < _LEAST_WORK:
        return None
    return WorkChange(flops.change, (1 + quantity.change) / (1 + flops.change) - 1)


def _work(
    comparison: Comparison, quantities: Mapping[str, Quantity], time: Judgement
) -> WorkChange | None:
    """Return how the work changed with the program, if all FLOPs of both sides are known.

    Recomputation does not count as more work of the program.
    """
    unknown = quantities.get("unknown_ops")
    work = change_of_work(time, quantities.get("flops"))
    if work is None or (unknown is not None and (unknown.base or unknown.head)):
        return None
    kinds = {change.kind for change in find_changes(comparison)}
    return work if kinds and ChangeKind.RECOMPUTATION not in kinds else None


def judge_figures(base: Mapping[str, int | None], head: Mapping[str, int | None]) -> Verdict:
    """Judge figures alone, as a report or a history has them."""
    names = (ESTIMATE, *MEMORY)
    quantities = {name: compare_figure(name, base.get(name), head.get(name)) for name in names}
    return Verdict(_estimated(quantities, "", Grade.GUESSED), _by_figures(quantities))


def _time(
    comparison: Comparison, quantities: Mapping[str, Quantity], times: ComparedTimes | None
) -> Judgement:
    if times is not None:
        return _measured(times)
    if comparison.same:
        return _same_code(comparison, quantities.get(ESTIMATE))
    obstacle = find_time_obstacle(comparison)
    if obstacle:
        return replace(_UNKNOWN, obstacle=obstacle)
    facts = comparison.present.facts
    grade = _GRADES.get(facts.device_grade, Grade.GUESSED)
    return _estimated(quantities, facts.device, grade)


def _estimated(quantities: Mapping[str, Quantity], device: str, grade: Grade) -> Judgement:
    quantity = quantities.get(ESTIMATE)
    if quantity is None or quantity.base is None or quantity.head is None:
        return _UNKNOWN
    direction, floor = _weigh(quantity, _LEAST_NANOSECONDS, _ESTIMATED_NOISE)
    return Judgement(direction, Basis.ROOFLINE, grade, quantity, device, floor=floor)


def _measured(times: ComparedTimes) -> Judgement:
    """Judge by a profile; a difference within the noise of its instructions is none."""
    quantity = compare_figure(
        "run_nanoseconds", round(times.before * 1000), round(times.after * 1000)
    )
    moved = any(
        change.certain is not False and change.more * (times.after - times.before) > 0
        for change in times.instructions
    )
    direction, floor = _weigh(quantity, _LEAST_NANOSECONDS) if moved else (Direction.SAME, 0)
    grade = Grade.EXACT if times.grade == "exact" else Grade.GUESSED
    runs = times.base_runs, times.head_runs
    return Judgement(direction, Basis.MEASURED, grade, quantity, "", *runs, floor=floor)


def _memory(comparison: Comparison, quantities: Mapping[str, Quantity]) -> Judgement:
    judgement = _by_figures(quantities)
    if judgement.direction is Direction.UNKNOWN and comparison.same:
        return _same_code(comparison)
    return judgement


def _same_code(comparison: Comparison, quantity: Quantity | None = None) -> Judgement:
    """Judge two modules with the same optimized HLO; the code is not compared."""
    if comparison.options:
        return Judgement(Direction.SAME, Basis.HLO, Grade.GUESSED, quantity)
    return Judgement(Direction.SAME, Basis.CODE, Grade.EXACT, quantity)


def _by_figures(quantities: Mapping[str, Quantity]) -> Judgement:
    """Return the judgement of the peak if both sides have one, else of the allocated memory.

    If the peaks are equal and the allocated memory differs, that is the change.
    """
    judgements = [
        _of_memory(quantity, basis)
        for name, basis in zip(MEMORY, (Basis.PEAK, Basis.ALLOCATED), strict=True)
        if (quantity := quantities.get(name)) and None not in (quantity.base, quantity.head)
    ]
    changed = (judgement for judgement in judgements if judgement.direction is not Direction.SAME)
    return next(changed, judgements[0] if judgements else _UNKNOWN)


def _of_memory(quantity: Quantity, basis: Basis) -> Judgement:
    direction, floor = _weigh(quantity, _LEAST_BYTES)
    return Judgement(direction, basis, Grade.EXACT, quantity, floor=floor)


def _weigh(quantity: Quantity, least: int, noise: float = _NOISE) -> tuple[Direction, int]:
    """Return the direction of a change, and `least` where the change is only less than that."""
    direction = _direction(quantity, noise)
    is_slight = abs((quantity.head or 0) - (quantity.base or 0)) < least
    if is_slight and direction is not Direction.SAME:
        return Direction.SAME, least
    return direction, 0


def _direction(quantity: Quantity, noise: float) -> Direction:
    if quantity.base == quantity.head:
        return Direction.SAME
    if quantity.change is None:
        return Direction.MORE
    if abs(quantity.change) < noise:
        return Direction.SAME
    return Direction.MORE if quantity.change > 0 else Direction.LESS
