"""What a module needs in memory, as its page tells it: figures, the peak, lives, what to shrink."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xlareport.analysis.cost.donation import Donation, find_donations
from xlareport.analysis.cost.fragmentation import Fill, measure_fills
from xlareport.analysis.cost.fullest_position import Fullest, find_fullest_position
from xlareport.analysis.cost.layout_spaces import LayoutSpace, layout_spaces
from xlareport.analysis.cost.lifetimes import End, Lifetime, explain_lifetimes
from xlareport.analysis.cost.memory import (
    KindTotal,
    MemoryFigures,
    collect_memory_figures,
    kind_totals,
    largest_values,
)
from xlareport.analysis.cost.memory_estimate import PeakEstimate, estimate_peak
from xlareport.analysis.cost.rematerialization import Rematerialised, find_rematerialized
from xlareport.analysis.cost.residency import (
    BufferKey,
    PeakBuffer,
    Share,
    buffer_sizes,
    peak_buffers,
    shares,
    trace_residency,
)
from xlareport.analysis.cost.saving import Saving, find_savings
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.analysis.source.scopes import scope_of
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.program import MemoryFiles
from xlareport.readers.buffer_assignment import Allocation, BufferAssignment
from xlareport.readers.live_range import LiveRanges, ScopeShare

MOST_ROWS = 200
"""Values in one list."""
ARGUMENTS = "arguments of the module"
"""Stands for the scope or line of what the caller brings."""
_TO_SAVE = 0.2
_CURVE_POINTS = 400


@dataclass(frozen=True, slots=True)
class ValueRow:
    """A value in memory, with what it is, where it comes from and why it lives so long."""

    instruction: str
    index: tuple[int, ...]
    """The place in the instruction's tuple; empty for the whole."""
    size: int
    """Bytes."""
    shape: str
    opcode: str
    kind: str
    """Of the allocation: `parameter`, `output`, `temp`, ...; empty where not known."""
    allocation: int | None
    color: int | None
    """The memory space, by the backend's number; None where not known."""
    at_peak: bool | None
    """Whether it lives when the most does; None where the dump does not tell."""
    life: Lifetime | None
    """None where the dump does not tell."""
    scope: str
    source: str


@dataclass(frozen=True, slots=True)
class DonationRow:
    """One input and the output that is written over it, or could be."""

    parameter: int
    name: str
    size: int | None
    output: tuple[int, ...] | None
    """The place in the output's tuple; None for an input given away without one."""
    donated: bool


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """What a module needs in memory on one device."""

    figures: MemoryFigures
    kinds: tuple[KindTotal, ...] = ()
    values: tuple[ValueRow, ...] = ()
    """The largest, whenever they live."""
    at_peak: tuple[ValueRow, ...] = ()
    """The largest of those that live when the most does."""
    at_peak_count: int = 0
    peak_scopes: tuple[Share, ...] = ()
    peak_lines: tuple[Share, ...] = ()
    breakdown: tuple[ScopeShare, ...] = ()
    """The peak as the live-range file breaks it down."""
    curve: tuple[int, ...] = ()
    """Bytes that live at positions of the schedule, evenly thinned out; empty where not known."""
    positions: int = 0
    """Of the whole schedule."""
    peak_position: int | None = None
    peak_instruction: str = ""
    fullest: Fullest | None = None
    """Where most lives by the live ranges, if the file marks another moment as the peak; then
    `at_peak` and `peak_position` are of this one."""
    marked_position: int | None = None
    """What the file marks as the peak."""
    saving: Saving | None = None
    """What would have to shrink to save a fifth of the peak."""
    saving_values: tuple[ValueRow, ...] = ()
    fills: tuple[Fill, ...] = ()
    donations: tuple[DonationRow, ...] = ()
    layout_spaces: tuple[LayoutSpace, ...] = ()
    rematerialised: tuple[Rematerialised, ...] = ()
    estimate: PeakEstimate | None = None
    """Where the dump has a schedule and no live ranges."""
    reported: Mapping[int, int] = field(default_factory=dict)
    """Bytes by memory space in the memory usage report; empty where there is none."""


def report_memory(files: MemoryFiles, module: HloModule, cost: ModuleCost) -> MemoryReport:
    """Bring together what the dump's files and the final module say."""
    return _ReportBuilder(files, module).build(cost)


class _ReportBuilder:
    """What several lists of one module need, looked up once."""

    def __init__(self, files: MemoryFiles, module: HloModule) -> None:
        self._files, self._module = files, module
        self._made = _by_name(module)
        self._place = places_of(module)
        parameters = module.entry.parameters if module.entry else ()
        self._parameters = frozenset(parameter.name for parameter in parameters)
        self._held = dict(_held(files.assignment)) if files.assignment else {}
        self._lives: Mapping[BufferKey, Lifetime] = {}
        self._at_peak: frozenset[BufferKey] | None = None
        if files.live is not None:
            self._lives = explain_lifetimes(files.live, files.uses, self._parameters)
            self._at_peak = _keys(files.live)

    def build(self, cost: ModuleCost) -> MemoryReport:
        files, live = self._files, self._files.live
        figures = collect_memory_figures(files.assignment, live, files.usage)
        sizes = buffer_sizes(files.assignment) if files.assignment else {}
        curve = trace_residency(live, sizes) if live and sizes else ()
        fullest = (
            find_fullest_position(live, sizes, curve, figures.allocated_bytes) if live else None
        )
        if live and fullest:
            live = replace(live, peak_position=fullest.position, live_at_peak=fullest.living)
            self._at_peak = _keys(live)
        known = figures.live_peak_bytes is not None
        estimate = None if known else estimate_peak(self._module)
        peak = peak_buffers(live, self._module) if live else ()
        saving = self._saving(sizes)
        schedule = live.schedule if live else ()
        position = live.peak_position if live else None
        return MemoryReport(
            figures=figures,
            kinds=kind_totals(files.assignment) if files.assignment else (),
            values=tuple(self._largest()),
            at_peak=tuple(self._estimated(estimate) if estimate else self._living(peak)),
            at_peak_count=len(estimate.living) if estimate else len(peak),
            peak_scopes=shares(peak, self._scope)[:MOST_ROWS],
            peak_lines=shares(peak, self._line)[:MOST_ROWS],
            breakdown=live.breakdown if live else (),
            curve=thinned(curve or (estimate.curve if estimate else ())),
            positions=len(curve) or (len(estimate.curve) if estimate else 0),
            peak_position=position,
            peak_instruction=schedule[position]
            if position is not None and position < len(schedule)
            else "",
            fullest=fullest,
            marked_position=files.live.peak_position if files.live else None,
            saving=saving,
            saving_values=tuple(self._peak_row(*key, size) for key, size in saving.buffers)
            if saving
            else (),
            fills=measure_fills(files.assignment, live) if files.assignment and live else (),
            donations=tuple(_donations(find_donations(self._module), self._module)),
            layout_spaces=layout_spaces(self._module),
            rematerialised=find_rematerialized(self._module, cost)[:MOST_ROWS],
            estimate=estimate,
            reported={space_usage.color: space_usage.total_bytes for space_usage in files.usage},
        )

    def _living(self, peak: Sequence[PeakBuffer]) -> Iterator[ValueRow]:
        for peak_buffer in peak[:MOST_ROWS]:
            yield self._peak_row(peak_buffer.instruction, peak_buffer.index, peak_buffer.size)

    def _estimated(self, estimate: PeakEstimate) -> Iterator[ValueRow]:
        """Yield what lives at an estimated peak, each with the life that the schedule gives it."""
        entry = self._module.entry
        order = [instruction.name for instruction in entry.instructions] if entry else []
        for name, size, first, last in estimate.living[:MOST_ROWS]:
            used = order[last] if last < len(order) else ""
            ends = End.USE if used else End.RESULT
            ends = End.ARGUMENT if name in self._parameters else ends
            life = Lifetime(first, last, len(order), ends, used, None, None)
            yield replace(self._peak_row(name, (), size), life=life, at_peak=True)

    def _scope(self, peak_buffer: PeakBuffer) -> str:
        if peak_buffer.instruction in self._parameters:
            return ARGUMENTS
        return scope_of(peak_buffer.op_name) or peak_buffer.op_name

    def _line(self, peak_buffer: PeakBuffer) -> str:
        place = peak_buffer.place.text if peak_buffer.place else ""
        return ARGUMENTS if peak_buffer.instruction in self._parameters and not place else place

    def _saving(self, sizes: Mapping[BufferKey, int]) -> Saving | None:
        live = self._files.live
        if live is None or not live.peak_bytes or not sizes:
            return None
        return find_savings(live, sizes, _TO_SAVE, self._parameters)

    def _largest(self) -> Iterator[ValueRow]:
        if self._files.assignment is None:
            return
        for placed in largest_values(self._files.assignment, MOST_ROWS):
            value, held = placed.value, placed.allocation
            yield self._row((value.instruction, value.index), value.size, value.shape, held)

    def _peak_row(self, instruction: str, index: tuple[int, ...], size: int) -> ValueRow:
        return self._row((instruction, index), size, "", self._held.get((instruction, index)))

    def _row(self, key: BufferKey, size: int, shape: str, held: Allocation | None) -> ValueRow:
        instruction = self._made.get(key[0])
        where = self._place(instruction) if instruction else None
        return ValueRow(
            instruction=key[0],
            index=key[1],
            size=size,
            shape=shape or (_element(instruction.shape, key[1]) if instruction else ""),
            opcode=instruction.opcode if instruction else "",
            kind=held.kind if held else "",
            allocation=held.index if held else None,
            color=held.color if held else None,
            at_peak=None if self._at_peak is None else key in self._at_peak,
            life=self._lives.get(key),
            scope=op_name_of(instruction, self._module) if instruction else "",
            source=where.short if where else "",
        )


def thinned(curve: tuple[int, ...]) -> tuple[int, ...]:
    """Return at most so many points, each the most of its stretch: no peak is lost."""
    stretch = -(-len(curve) // _CURVE_POINTS) or 1
    return tuple(max(curve[at : at + stretch]) for at in range(0, len(curve), stretch))


def _keys(live: LiveRanges) -> frozenset[BufferKey]:
    return frozenset(
        (live_buffer.instruction, live_buffer.index) for live_buffer in live.live_at_peak
    )


def _held(assignment: BufferAssignment) -> Iterator[tuple[BufferKey, Allocation]]:
    for allocation in assignment.allocations:
        for value in allocation.values:
            yield (value.instruction, value.index), allocation


def _donations(donation: Donation, module: HloModule) -> Iterator[DonationRow]:
    parameters = module.entry.parameters if module.entry else ()
    rows: list[tuple[int, tuple[int, ...] | None, bool]] = [
        *((alias.parameter, alias.output, True) for alias in donation.aliases),
        *((parameter, None, True) for parameter, _ in donation.donors),
        *((parameter, output, False) for parameter, output in donation.candidates),
    ]
    for number, output, donated in rows:
        if number < len(parameters):
            instruction = parameters[number]
            name = instruction.metadata.op_name or instruction.name
            yield DonationRow(number, name, instruction.shape.byte_size, output, donated)


def _element(shape: Shape, index: tuple[int, ...]) -> str:
    for step in index:
        if step >= len(shape.elements):
            return shape.text
        shape = shape.elements[step]
    return shape.text


def _by_name(module: HloModule) -> Mapping[str, Instruction]:
    return {instruction.name: instruction for instruction in module.instructions}
