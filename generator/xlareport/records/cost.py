"""The cost of a module in report.json: frozen records with the largest entries of each list.

Figures are for one run on one device; unknown figures are None.
"""

from collections.abc import Container, Sequence

from msgspec import Struct

from xlareport.analysis.cost.heavy import HeavyInstruction
from xlareport.analysis.cost.host_memory import HostTransfer
from xlareport.analysis.cost.memory import HeldMemory, SpaceFigures
from xlareport.analysis.cost.memory_stats import MemoryStats
from xlareport.analysis.cost.residency import Share
from xlareport.analysis.cost.stacked import StackedBuffer
from xlareport.analysis.cost.time_basis import CompilerCycles
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.precision_report import PrecisionSum, ProductRow
from xlareport.analysis.cost_report.source_lines import SourceLine
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.analysis.cost_report.work_report import LoopRow
from xlareport.analysis.memory_actions.actions import MemoryAction, list_actions
from xlareport.records.sentences import why

_MOST_ROWS = 20
_MOST_PRODUCTS = 100


class HeavyInstructionRecord(Struct, frozen=True):
    """One of the heaviest instructions, over all its executions."""

    computation: str
    instruction: str
    seconds: float
    """The roofline time."""
    share: float
    """Of the time of the module, 0 to 1: by the compiler's cycles where `cycles` of the module has
    seconds, else of the roofline time."""
    cycles: int | None
    """The TPU compiler's estimated cycles of all executions."""
    limit: str
    """`compute`, `memory` or `interconnect`; empty where the roofline time is 0."""
    flops: int | None
    bytes_read: int | None
    bytes_written: int | None
    executions: int | None
    source: str


class LoopRecord(Struct, frozen=True):
    """A loop with its trip count."""

    computation: str
    instruction: str
    trip_count: int | None
    """None where it is not known: the figures count one iteration."""
    grade: str
    reason: str
    at_most: int | None = None
    """An upper bound of an unknown trip count; null without one."""
    seconds: float | None = None
    """The estimated time of the body and the condition, as the totals count it."""


class ProductRecord(Struct, frozen=True):
    """A dot, convolution or library call for one."""

    computation: str
    instruction: str
    operands: tuple[str, ...]
    """The types of the two operands."""
    setting: str
    """`default`, `high`, `highest`, or an algorithm."""
    accumulator: str | None
    """The type in which an algorithm accumulates; None without an algorithm."""
    result: str
    unit: str
    """How the device computes it, such as `3 bf16 passes`."""
    flops: int


class MemorySpaceRecord(Struct, frozen=True):
    """The figures of a memory space."""

    number: int
    name: str
    allocated_bytes: int
    temp_bytes: int | None
    peak_bytes: int | None
    """Peak bytes in use; None if live ranges are unknown."""
    reported_bytes: int | None
    """Bytes in the memory usage report."""
    reported_name: str | None
    """Name in the memory usage report, which has the same labels for all chips."""


class LiveValueRecord(Struct, frozen=True):
    """A value in memory."""

    value: str
    argument: str | None
    """The framework's name of an entry parameter, such as `params['w']`; null for others."""
    bytes: int
    first: int | None
    """First schedule position of its live range; None if unknown."""
    last: int | None
    live_at_peak: bool | None
    """Whether the value is live at the peak; null if unknown.

    If it is not live, its memory is held: that of arguments, outputs and constants always is.
    """
    why: str
    """The end of its live range, in words."""
    scope: str
    source: str


class PeakPartRecord(Struct, frozen=True):
    """A part of the peak that belongs to one scope or line."""

    name: str
    bytes: int


class SavingRecord(Struct, frozen=True):
    """The values to reduce to save a fifth of the peak."""

    wanted_bytes: int
    reached_bytes: int
    values: tuple[LiveValueRecord, ...]


class MemoryRecord(Struct, frozen=True):
    """The memory of a module; allocations and peaks are in `final`."""

    held: HeldMemory | None
    """Memory held by the runtime; None without a buffer assignment."""
    held_bytes: int | None
    """Bytes of arguments, outputs and temporaries, where reused argument memory counts once.

    As in `memory_analysis()`, constants are not in it: `held.constant_bytes`.
    """
    stats: MemoryStats | None
    """Temp and peak as `memory_analysis()` gives them: `occupied_peak_bytes` of the snapshot is the
    peak of all that is in use."""
    spaces: tuple[MemorySpaceRecord, ...]
    estimated_peak_bytes: int | None
    """Guessed from the schedule, where the dump has no file on memory."""
    peak_position: int | None
    peak_instruction: str
    at_peak: tuple[LiveValueRecord, ...]
    """The largest buffers of the device memory in use at the peak, each named by a value in it."""
    peak_by_scope: tuple[PeakPartRecord, ...]
    peak_by_line: tuple[PeakPartRecord, ...]
    saving: SavingRecord | None
    lost_bytes: int | None
    """In shared allocations of the device memory at their fullest, at most; None if not known."""
    donated: tuple[int, ...]
    """Numbers of arguments that may be written over."""
    could_be_donated: tuple[int, ...]
    rematerialized: tuple[str, ...]
    stacked: tuple[StackedBuffer, ...]
    """The largest buffers into which loops write slice by slice, as scans do."""
    host_transfers: tuple[HostTransfer, ...]
    """The largest transfers between the device's memory and the host's."""
    actions: tuple[MemoryAction, ...] = ()
    """Suggestions that lower the peak, the most bytes first."""


class SourceLineRecord(Struct, frozen=True):
    """The cost of one line of the user's program."""

    file: str
    line: int | None
    function: str
    seconds: float
    flops: int
    bytes_accessed: int
    peak_bytes: int | None
    instructions: int
    became: tuple[str, ...]


class CostRecord(Struct, frozen=True):
    """The cost of a module."""

    device: str
    device_grade: str
    """`exact`, `matched` by its architecture, of the `others` of the dump where the module names
    none, `chosen` by the user, or `guessed`."""
    devices: int
    """Number of devices that run the module together; figures are for one of them."""
    seconds: float | None
    """The roofline time."""
    cycles: CompilerCycles | None
    """The TPU compiler's own estimate; None where the dump has none."""
    on_chip_share: float
    """Part, 0 to 1, of the bytes accessed that is in a TPU's VMEM or CMEM: no roofline time."""
    flops_of_all_devices: int | None
    bytes_of_all_devices: int | None
    at_least: bool
    """Whether the figures are lower bounds, because some instructions were not counted."""
    branches: int
    """Conditionals that count as their costliest branch each time, so that figures may be less."""
    unknown_loops: int
    recomputed_flops: int
    """FLOPs of one device that are recomputed to save memory; the others are the model's.

    Approximate: fusions repeat cheap operations, with or without a checkpoint.
    """
    recomputed_product_flops: int
    """Those of them in dots, convolutions and library calls."""
    precisions: tuple[PrecisionSum, ...]
    """The products by precision."""
    products: tuple[ProductRecord, ...]
    heaviest: tuple[HeavyInstructionRecord, ...]
    loops: tuple[LoopRecord, ...]
    memory: MemoryRecord
    lines: tuple[SourceLineRecord, ...]

    @property
    def by_cycles(self) -> bool:
        """Whether shares are of the time by the compiler's estimated cycles."""
        return self.cycles is not None and self.cycles.seconds is not None

    @property
    def whole_seconds(self) -> float | None:
        """The time of which shares are: by the compiler's cycles where they cover the module."""
        return (self.cycles.seconds if self.cycles else None) or self.seconds


def cost_record(cost_report: CostReport | None, titles: Container[str] = ()) -> CostRecord | None:
    """Return the record of a module's cost, the largest entries of each list; None if unknown.

    `titles` are those of its findings, which suggestions name.
    """
    if cost_report is None:
        return None
    totals = cost_report.totals
    return CostRecord(
        device=cost_report.device.name,
        device_grade=cost_report.device_grade,
        devices=totals.devices,
        seconds=cost_report.seconds,
        cycles=cost_report.cycles,
        on_chip_share=cost_report.on_chip_share,
        flops_of_all_devices=_times(totals.flops, totals.devices),
        bytes_of_all_devices=_times(totals.bytes_accessed, totals.devices),
        at_least=totals.bound == "at least",
        branches=totals.branches,
        unknown_loops=sum(loop.trip_count.count is None for loop in cost_report.loops),
        recomputed_flops=cost_report.recomputed.total,
        recomputed_product_flops=cost_report.recomputed.products,
        precisions=cost_report.precisions,
        products=tuple(map(_product, cost_report.products[:_MOST_PRODUCTS])),
        heaviest=tuple(map(_heavy, cost_report.heaviest[:_MOST_ROWS])),
        loops=tuple(map(_loop, cost_report.loops)),
        memory=_memory(cost_report.memory, titles),
        lines=tuple(map(_line_record, cost_report.source.lines[:_MOST_ROWS])),
    )


def _times(figure: int | None, times: int) -> int | None:
    return None if figure is None else figure * times


def _product(row: ProductRow) -> ProductRecord:
    return ProductRecord(
        computation=row.computation,
        instruction=row.instruction,
        operands=row.precision.operands,
        setting=row.precision.setting,
        accumulator=row.precision.accumulator,
        result=row.precision.result,
        unit=row.unit,
        flops=row.flops,
    )


def _heavy(heavy: HeavyInstruction) -> HeavyInstructionRecord:
    return HeavyInstructionRecord(
        computation=heavy.computation,
        instruction=heavy.instruction,
        seconds=heavy.roofline_seconds,
        share=heavy.share,
        cycles=heavy.cycles,
        limit=heavy.limit,
        flops=heavy.flops,
        bytes_read=heavy.bytes_read,
        bytes_written=heavy.bytes_written,
        executions=heavy.cost.executions,
        source=heavy.source,
    )


def _loop(row: LoopRow) -> LoopRecord:
    trips = row.trip_count
    return LoopRecord(
        computation=row.computation,
        instruction=row.instruction,
        trip_count=trips.count,
        grade=trips.grade,
        reason=trips.reason,
        at_most=trips.most,
        seconds=row.seconds,
    )


def _memory(memory: MemoryReport, titles: Container[str]) -> MemoryRecord:
    held = memory.figures.held
    return MemoryRecord(
        held=held,
        held_bytes=held.total_bytes if held else None,
        stats=memory.stats,
        spaces=tuple(_space(memory, space) for space in memory.figures.spaces),
        estimated_peak_bytes=memory.estimate.bytes if memory.estimate else None,
        peak_position=memory.peak_position,
        peak_instruction=memory.peak_instruction,
        at_peak=_living(memory.at_peak),
        peak_by_scope=_parts(memory.peak_scopes),
        peak_by_line=_parts(memory.peak_lines),
        saving=_saving(memory),
        lost_bytes=memory.lost_bytes if memory.fills else None,
        donated=tuple(donation.parameter for donation in memory.donations if donation.donated),
        could_be_donated=tuple(
            donation.parameter for donation in memory.donations if not donation.donated
        ),
        rematerialized=tuple(
            rematerialized.instruction for rematerialized in memory.rematerialized[:_MOST_ROWS]
        ),
        stacked=memory.stacked[:_MOST_ROWS],
        host_transfers=memory.host_transfers[:_MOST_ROWS],
        actions=list_actions(memory, titles),
    )


def _space(memory: MemoryReport, space: SpaceFigures) -> MemorySpaceRecord:
    reported_name, reported_bytes = memory.reported.get(space.color, (None, None))
    return MemorySpaceRecord(
        number=space.color,
        name=memory.space_names[space.color],
        allocated_bytes=space.allocated_bytes,
        temp_bytes=space.temp_bytes,
        peak_bytes=memory.space_peaks.get(space.color),
        reported_bytes=reported_bytes,
        reported_name=reported_name,
    )


def _saving(memory: MemoryReport) -> SavingRecord | None:
    if memory.saving is None:
        return None
    return SavingRecord(memory.saving.wanted, memory.saving.reached, _living(memory.saving_values))


def _living(rows: Sequence[ValueRow]) -> tuple[LiveValueRecord, ...]:
    return tuple(
        LiveValueRecord(
            value=row.name,
            argument=row.argument or None,
            bytes=row.size,
            first=row.lifetime.start if row.lifetime else None,
            last=row.lifetime.end if row.lifetime else None,
            live_at_peak=row.at_peak,
            why=why(row.lifetime),
            scope=row.scope,
            source=row.source,
        )
        for row in rows[:_MOST_ROWS]
    )


def _parts(shares: Sequence[Share]) -> tuple[PeakPartRecord, ...]:
    return tuple(PeakPartRecord(share.name, share.size) for share in shares[:_MOST_ROWS])


def _line_record(source_line: SourceLine) -> SourceLineRecord:
    place, cost = source_line.place, source_line.cost
    return SourceLineRecord(
        file=place.file,
        line=place.line,
        function=place.function,
        seconds=cost.seconds,
        flops=cost.flops,
        bytes_accessed=cost.bytes_accessed,
        peak_bytes=source_line.peak_bytes,
        instructions=cost.instructions,
        became=tuple(operation.instruction for operation in source_line.became[:_MOST_ROWS]),
    )
