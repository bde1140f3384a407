"""What a module costs in report.json: plain records, the largest of each list.

Figures are of one run on one device; one that is not known is None.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xlareport.analysis.cost.residency import Share
from xlareport.analysis.cost_report.memory_report import MemoryReport, ValueRow
from xlareport.analysis.cost_report.report import CostReport
from xlareport.analysis.cost_report.source_lines import SourceLine
from xlareport.analysis.cost_report.work_report import CollectiveRow, HeavyRow, LoopRow
from xlareport.knowledge.memory_spaces import space_words
from xlareport.records.sentences import groups_words, sharding_words, value_name, why

_MOST = 20
_MOST_COLLECTIVES = 100


@dataclass(frozen=True, slots=True)
class HeavyView:
    """One of the heaviest instructions, over all its runs."""

    computation: str
    instruction: str
    seconds: float
    """The least time by estimate."""
    share: float
    """Of the least time of the module, 0 to 1."""
    limit: str
    """`arithmetic` or `memory`."""
    flops: int | None
    bytes_read: int | None
    bytes_written: int | None
    executions: int | None
    source: str


@dataclass(frozen=True, slots=True)
class LoopView:
    """One loop."""

    computation: str
    instruction: str
    rounds: int | None
    """None where it is not known: the figures count one round."""
    grade: str
    reason: str


@dataclass(frozen=True, slots=True)
class CollectiveView:
    """One collective, per device and run."""

    computation: str
    instruction: str
    kind: str
    data_bytes: int | None
    wire_bytes: int | None
    """The least that one device must send."""
    executions: int | None
    group_size: int | None
    groups: str
    overlaps: tuple[str, ...] | None
    """What runs between start and end; None where it is not asynchronous."""
    by_partitioner: bool
    sharding: str
    """Which sharding made it, with the grade; empty where the dump does not tell."""


@dataclass(frozen=True, slots=True)
class SpaceView:
    """One memory space."""

    number: int
    name: str
    allocated_bytes: int
    temp_bytes: int | None
    reported_bytes: int | None
    """What the memory usage report says."""


@dataclass(frozen=True, slots=True)
class LivingView:
    """A value in memory."""

    value: str
    bytes: int
    first: int | None
    """The position in the schedule from which it lives; None where the dump does not tell."""
    last: int | None
    why: str
    """What ends its life."""
    scope: str
    source: str


@dataclass(frozen=True, slots=True)
class PartView:
    """A part of the peak that belongs to one scope or line."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class SavingView:
    """What would have to shrink to save a fifth of the peak."""

    wanted_bytes: int
    reached_bytes: int
    values: tuple[LivingView, ...]


@dataclass(frozen=True, slots=True)
class MemoryView:
    """The memory of a module; the three figures themselves stand in `final`."""

    spaces: tuple[SpaceView, ...]
    estimated_peak_bytes: int | None
    """Guessed from the schedule, where the dump has no file on memory."""
    peak_position: int | None
    peak_instruction: str
    at_peak: tuple[LivingView, ...]
    peak_by_scope: tuple[PartView, ...]
    peak_by_line: tuple[PartView, ...]
    saving: SavingView | None
    lost_bytes: int | None
    """In shared allocations at their fullest, at most; None where it cannot be told."""
    donated: tuple[int, ...]
    """Numbers of arguments that may be written over."""
    could_be_donated: tuple[int, ...]
    rematerialised: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineCostView:
    """One line of the user's program."""

    file: str
    line: int | None
    function: str
    seconds: float
    flops: int
    bytes_accessed: int
    peak_bytes: int | None
    instructions: int
    became: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExpenseView:
    """What a module costs."""

    device: str
    device_grade: str
    """`exact`, `matched` by its architecture, `chosen` by the user, or `guessed`."""
    devices: int
    """How many run the module together; figures are those of one."""
    seconds: float | None
    """The least time by estimate."""
    flops_of_all_devices: int | None
    bytes_of_all_devices: int | None
    at_least: bool
    """Whether something could not be counted, so that the figures are at least so much."""
    unknown_loops: int
    heaviest: tuple[HeavyView, ...]
    loops: tuple[LoopView, ...]
    collectives: tuple[CollectiveView, ...]
    memory: MemoryView
    lines: tuple[LineCostView, ...]


def cost_record(found: CostReport | None, backend: str | None) -> ExpenseView | None:
    """Return the record of what a module costs, the largest of each list; None where unknown."""
    if found is None:
        return None
    totals = found.totals
    return ExpenseView(
        device=found.device.name,
        device_grade=found.device_grade,
        devices=totals.devices,
        seconds=found.seconds,
        flops_of_all_devices=_times(totals.flops, totals.devices),
        bytes_of_all_devices=_times(totals.bytes_accessed, totals.devices),
        at_least=totals.is_partial,
        unknown_loops=sum(one.rounds.count is None for one in found.loops),
        heaviest=tuple(_heavy(one) for one in found.heaviest[:_MOST]),
        loops=tuple(_loop(one) for one in found.loops),
        collectives=tuple(_collective(one) for one in found.collectives[:_MOST_COLLECTIVES]),
        memory=_memory(found.memory, backend),
        lines=tuple(_line(one) for one in found.source.lines[:_MOST]),
    )


def _times(figure: int | None, times: int) -> int | None:
    return None if figure is None else figure * times


def _heavy(row: HeavyRow) -> HeavyView:
    cost = row.heavy.cost
    return HeavyView(
        computation=row.heavy.computation,
        instruction=row.heavy.instruction,
        seconds=row.heavy.seconds,
        share=row.heavy.share,
        limit=row.least.bound,
        flops=cost.of_all_runs(cost.flops),
        bytes_read=cost.of_all_runs(cost.bytes_read),
        bytes_written=cost.of_all_runs(cost.bytes_written),
        executions=cost.executions,
        source=row.source,
    )


def _loop(row: LoopRow) -> LoopView:
    rounds = row.rounds
    return LoopView(row.computation, row.instruction, rounds.count, rounds.grade, rounds.reason)


def _collective(row: CollectiveRow) -> CollectiveView:
    one = row.one
    return CollectiveView(
        computation=one.computation,
        instruction=one.instruction,
        kind=one.kind,
        data_bytes=one.data_bytes,
        wire_bytes=one.wire_bytes,
        executions=one.executions,
        group_size=one.group_size,
        groups=groups_words(row),
        overlaps=one.overlaps[:_MOST] if one.overlaps is not None else None,
        by_partitioner=one.is_spmd_generated,
        sharding=sharding_words(row),
    )


def _memory(found: MemoryReport, backend: str | None) -> MemoryView:
    return MemoryView(
        spaces=tuple(
            SpaceView(
                number=one.color,
                name=space_words(backend, one.color),
                allocated_bytes=one.allocated_bytes,
                temp_bytes=one.temp_bytes,
                reported_bytes=found.reported.get(one.color),
            )
            for one in found.figures.spaces
        ),
        estimated_peak_bytes=found.estimate.bytes if found.estimate else None,
        peak_position=found.peak_position,
        peak_instruction=found.peak_instruction,
        at_peak=_living(found.at_peak),
        peak_by_scope=_parts(found.peak_scopes),
        peak_by_line=_parts(found.peak_lines),
        saving=_saving(found),
        lost_bytes=sum(one.lost for one in found.fills) if found.fills else None,
        donated=tuple(one.parameter for one in found.donations if one.donated),
        could_be_donated=tuple(one.parameter for one in found.donations if not one.donated),
        rematerialised=tuple(one.instruction for one in found.rematerialised[:_MOST]),
    )


def _saving(found: MemoryReport) -> SavingView | None:
    if found.saving is None:
        return None
    return SavingView(found.saving.wanted, found.saving.reached, _living(found.saving_values))


def _living(rows: Sequence[ValueRow]) -> tuple[LivingView, ...]:
    return tuple(
        LivingView(
            value=value_name(one),
            bytes=one.size,
            first=one.life.start if one.life else None,
            last=one.life.end if one.life else None,
            why=why(one.life),
            scope=one.scope,
            source=one.source,
        )
        for one in rows[:_MOST]
    )


def _parts(found: Sequence[Share]) -> tuple[PartView, ...]:
    return tuple(PartView(one.name, one.size) for one in found[:_MOST])


def _line(one: SourceLine) -> LineCostView:
    return LineCostView(
        file=one.place.file,
        line=one.place.line,
        function=one.place.function,
        seconds=one.cost.seconds,
        flops=one.cost.flops,
        bytes_accessed=one.cost.bytes_accessed,
        peak_bytes=one.peak_bytes,
        instructions=one.cost.instructions,
        became=tuple(each.instruction for each in one.became[:_MOST]),
    )
