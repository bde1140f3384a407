"""Works out the memory report of a module from the dump's files and the final module."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from xlareport.analysis.cost.activations import Activation, find_activations
from xlareport.analysis.cost.aliased_values import find_writer, group_aliased_values, group_places
from xlareport.analysis.cost.donation import list_donations
from xlareport.analysis.cost.host_memory import find_host_transfers
from xlareport.analysis.cost.layout_spaces import sum_layout_spaces
from xlareport.analysis.cost.lifetimes import (
    Lifetime,
    estimate_lifetime,
    explain_lifetimes,
    follow_aliases,
)
from xlareport.analysis.cost.memory import collect_memory_figures, rank_values, sum_by_kind
from xlareport.analysis.cost.memory_estimate import PeakEstimate, estimate_peak
from xlareport.analysis.cost.memory_stats import find_memory_stats
from xlareport.analysis.cost.occupancy import BufferKey, Occupancy, occupancy_of
from xlareport.analysis.cost.peak_roles import PeakRole, PeakRoles
from xlareport.analysis.cost.rematerialization import find_rematerialized, is_in_loops_alone
from xlareport.analysis.cost.residency import (
    PeakBuffer,
    find_peak_buffers,
    group_arguments,
    sum_by_line,
    sum_by_scope,
)
from xlareport.analysis.cost.saving import Saving, find_savings
from xlareport.analysis.cost.stacked import (
    StackCopy,
    StackedBuffer,
    find_kept_by_policy,
    find_stack_copies,
    find_stacked_at_peak,
    find_stacked_buffers,
)
from xlareport.analysis.cost.tiling import sum_padding
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.cost_report.memory_curves import (
    find_largest_live_sum,
    find_plateau,
    find_space_curves,
    list_living_values,
    thin_curve,
)
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.padded_values import find_padded_values
from xlareport.analysis.cost_report.peak_groups import element_at, find_peak_groups
from xlareport.analysis.cost_report.replicated_state import find_replicated_arguments
from xlareport.analysis.cost_report.unsplit_stacks import find_unsplit_stacks
from xlareport.analysis.cost_report.value_purposes import find_purposes
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.analysis.shardings.sharding_report import ShardingReport
from xlareport.analysis.source.argument_names import list_arguments, name_arguments
from xlareport.analysis.source.instruction_origins import (
    InstructionOrigin,
    InstructionOrigins,
    find_origins,
)
from xlareport.hlo.model import HloModule
from xlareport.knowledge.memory_spaces import space_words
from xlareport.program import MemoryFiles
from xlareport.readers.buffer_assignment import Allocation

MOST_ROWS = 200
"""Values in one list."""
_TO_SAVE = 0.2


def report_memory(
    files: MemoryFiles,
    module: HloModule,
    cost: ModuleCost,
    chip: str = "",
    backend: str | None = None,
    *,
    before: HloModule | None = None,
    shardings: ShardingReport | None = None,
) -> MemoryReport:
    """Return the report from the dump's files and the final module; `chip` is a device key.

    `before` is the module before optimization, if the dump has it.
    """
    report = _ReportBuilder(files, module, cost).build(chip)
    purposes = find_purposes(module, cost, (row.instruction for row in report.saving_values))
    colors = (space.color for space in report.figures.spaces)
    return replace(
        report,
        stats=find_memory_stats(files, module, backend),
        space_names={color: space_words(backend, color, chip) for color in colors},
        argument_padding_bytes=sum_padding(module),
        unsplit_stacks=find_unsplit_stacks(report.stacked_at_peak, shardings),
        kept_by_policy=find_kept_by_policy(before, _list_stacks(report)),
        arguments=list_arguments(module),
        padded_at_peak=find_padded_values(module, report.at_peak),
        replicated_arguments=find_replicated_arguments(before, module, shardings),
        activations=purposes.without_partial_sums(report.activations),
        purposes=purposes,
    )


def _list_stacks(report: MemoryReport) -> list[StackedBuffer]:
    """Return the stacked buffers in use at the peak, and those of which a copy is."""
    moved = [copy.buffer for copy in report.stack_copies]
    return [
        *report.stacked_at_peak,
        *(buffer for buffer in moved if buffer not in report.stacked_at_peak),
    ]


class _ReportBuilder:
    """The data that several lists of one module need, computed once."""

    def __init__(self, files: MemoryFiles, module: HloModule, cost: ModuleCost) -> None:
        self._files, self._module, self._cost = files, module, cost
        self._by_name = {instruction.name: instruction for instruction in module.instructions}
        self._arguments = name_arguments(module)
        parameters = module.parameters
        self._parameters = frozenset(parameter.name for parameter in parameters)
        allocations = files.assignment.allocations if files.assignment else ()
        self._held: Mapping[BufferKey, Allocation] = {
            (value.instruction, value.index): held for held in allocations for value in held.values
        }
        self._occupancy = occupancy_of(files)

    @cached_property
    def _shared(self) -> tuple[tuple[BufferKey, ...], ...]:
        """Return the values of each buffer that loops or conditionals pass on."""
        return group_aliased_values(self._module, self._files.uses)

    @cached_property
    def _writers(self) -> Mapping[BufferKey, str]:
        """Return the instruction that writes what a loop reads as its parameter, by the value."""
        return {
            key: writer
            for keys in self._shared
            if (writer := find_writer(keys, self._by_name, self._lifetimes))
            for key in keys
        }

    @cached_property
    def _stacked(self) -> tuple[StackedBuffer, ...]:
        return find_stacked_buffers(self._module, self._cost.trip_counts)

    @cached_property
    def _stored(self) -> Mapping[BufferKey, str]:
        """Return the op_names of what loops stack, by the values that are such a buffer."""
        stored: dict[BufferKey, str] = {
            (stack.loop, (stack.index,)): stack.stored for stack in self._stacked if stack.stored
        }
        for keys in self._shared:
            names = {stored[key] for key in keys if key in stored}
            if len(names) == 1:
                stored.update(dict.fromkeys(keys, names.pop()))
        return stored

    def _origin(self, key: BufferKey) -> InstructionOrigin:
        """Return the origin of a value; of loop state, that of what the loop writes there."""
        origin = self._origins.find_value(*key)
        if key in self._stored:
            return replace(origin, op_name=self._stored[key])
        if origin.op_name or key not in self._writers:
            return origin
        return replace(self._origins.find(self._writers[key]), instruction=origin.instruction)

    @cached_property
    def _origins(self) -> InstructionOrigins:
        return find_origins(self._module)

    @cached_property
    def _lifetimes(self) -> Mapping[BufferKey, Lifetime]:
        files = self._files
        if not files.live:
            return {}
        lifetimes = explain_lifetimes(files.live, files.uses, self._parameters)
        return follow_aliases(lifetimes, (*self._shared, *group_places(files.assignment)))

    def build(self, chip: str) -> MemoryReport:
        files, cost, stacked = self._files, self._cost, self._stacked
        again = find_rematerialized(self._module, cost)
        report = MemoryReport(
            figures=collect_memory_figures(files.assignment, files.live, files.usage),
            kinds=sum_by_kind(files.assignment) if files.assignment else (),
            values=tuple(self._largest()),
            breakdown=files.live.breakdown if files.live else (),
            marked_position=files.live.peak_position if files.live else None,
            live_sum=find_largest_live_sum(files.live, files.assignment),
            donations=tuple(list_donations(self._module)),
            layout_spaces=sum_layout_spaces(self._module),
            rematerialized=again[:MOST_ROWS],
            rematerialized_counts=Counter(recomputed.by for recomputed in again),
            checkpoints_in_loops=is_in_loops_alone(self._module),
            host_transfers=find_host_transfers(self._module, cost),
            stacked=stacked[:MOST_ROWS],
            stacked_at_peak=tuple(find_stacked_at_peak(stacked, self._occupancy)),
            reported={usage.color: (usage.name, usage.total_bytes) for usage in files.usage},
            chip=chip,
        )
        if self._occupancy is not None:
            return self._with_occupancy(report, self._occupancy)
        estimate = estimate_peak(self._module)
        return self._with_estimate(report, estimate) if estimate else report

    def _with_occupancy(self, report: MemoryReport, occupancy: Occupancy) -> MemoryReport:
        """Return the report with the memory in use over time, from offsets and live ranges."""
        schedule = self._files.live.schedule if self._files.live else ()
        position = occupancy.position
        living = occupancy.living(position)
        temporaries = [(slot.key, slot.size) for slot in living if not slot.is_held]
        peak = find_peak_buffers(living, self._origin)
        saving = find_savings(occupancy, _TO_SAVE, self._by_name) if occupancy.peak else None
        at = schedule[position] if position < len(schedule) else ""
        sources = ValueSources(self._module)
        roles = PeakRoles(sources, occupancy, at, report.stacked_at_peak)
        apart = [(key, size) for key, size in temporaries if roles.find_stack(key) is None]
        copies = find_stack_copies(apart, self._stacked, sources)
        copied = {copy.key for copy in copies}
        free = [item for item in apart if item[0] not in copied and not roles.is_working(item[0])]
        activations = find_activations(free, self._lifetimes, sources)
        return replace(
            report,
            at_peak=tuple(self._living(peak)),
            at_peak_count=len(peak),
            activations=activations,
            argument_groups=group_arguments(peak, self._arguments),
            peak_scopes=sum_by_scope(peak, self._parameters)[:MOST_ROWS],
            peak_lines=sum_by_line(peak, self._parameters)[:MOST_ROWS],
            curve=thin_curve(occupancy.curve),
            curves=tuple(find_space_curves(occupancy, schedule)),
            living=tuple(list_living_values(occupancy, self._arguments)),
            occupied_peak_bytes=occupancy.peak,
            space_peaks={color: max(curve) for color, curve in occupancy.curves.items()},
            positions=len(occupancy.curve),
            peak_position=position,
            peak_instruction=at,
            plateau=find_plateau(occupancy.curve, position, self._module, schedule),
            saving=saving,
            saving_values=tuple(self._saving_rows(saving, roles, activations, copies)),
            stack_copies=copies,
            peak_groups=find_peak_groups(self._module, occupancy, schedule),
            fills=occupancy.fills,
        )

    def _with_estimate(self, report: MemoryReport, estimate: PeakEstimate) -> MemoryReport:
        """Return the report with live values from the schedule alone."""
        return replace(
            report,
            at_peak=tuple(self._estimated(estimate)),
            at_peak_count=len(estimate.living),
            curve=thin_curve(estimate.curve),
            positions=len(estimate.curve),
            estimate=estimate,
        )

    def _living(self, peak: Sequence[PeakBuffer]) -> Iterator[ValueRow]:
        for peak_buffer in peak[:MOST_ROWS]:
            row = self._peak_row(peak_buffer.instruction, peak_buffer.index, peak_buffer.size)
            yield replace(row, occupant=peak_buffer.occupant)

    def _saving_rows(
        self,
        saving: Saving | None,
        roles: PeakRoles,
        activations: Sequence[Activation],
        copies: Sequence[StackCopy],
    ) -> Iterator[ValueRow]:
        copied = {copy.key: copy.buffer for copy in copies}
        for key, size in saving.buffers if saving else ():
            stack = roles.find_stack(key) or copied.get(key)
            yield replace(
                self._peak_row(*key, size),
                role=PeakRole.STACKED if key in copied else roles.role(key, activations),
                origin=stack.stored if stack else roles.op_name(key),
            )

    def _estimated(self, estimate: PeakEstimate) -> Iterator[ValueRow]:
        """Yield the values live at an estimated peak, each with its range in the schedule."""
        entry = self._module.entry
        order = [instruction.name for instruction in entry.instructions] if entry else []
        for name, size, first, last in estimate.living[:MOST_ROWS]:
            lifetime = estimate_lifetime(order, first, last, is_argument=name in self._parameters)
            yield replace(self._peak_row(name, (), size), lifetime=lifetime, at_peak=True)

    def _is_at_peak(self, key: BufferKey) -> bool | None:
        """Return whether a value lives at the peak; None where the dump does not show it."""
        lifetime = self._lifetimes.get(key)
        if self._occupancy is None or self._held.get(key) is None:
            return None
        return lifetime.start <= self._occupancy.position <= lifetime.end if lifetime else None

    def _largest(self) -> Iterator[ValueRow]:
        if self._files.assignment is None:
            return
        for placed in rank_values(self._files.assignment, MOST_ROWS):
            value, held = placed.value, placed.allocation
            yield self._value_row((value.instruction, value.index), value.size, value.shape, held)

    def _peak_row(self, instruction: str, index: tuple[int, ...], size: int) -> ValueRow:
        return self._value_row((instruction, index), size, "", self._held.get((instruction, index)))

    def _value_row(
        self, key: BufferKey, size: int, shape: str, held: Allocation | None
    ) -> ValueRow:
        instruction, origin = self._by_name.get(key[0]), self._origin(key)
        return ValueRow(
            instruction=key[0],
            index=key[1],
            size=size,
            shape=shape or (element_at(instruction.shape, key[1]).text if instruction else ""),
            opcode=instruction.opcode if instruction else "",
            kind=held.kind if held else "",
            allocation=held.index if held else None,
            color=held.color if held else None,
            at_peak=self._is_at_peak(key),
            lifetime=self._lifetimes.get(key),
            scope=origin.op_name,
            source=origin.place.short if origin.place else "",
            argument=self._arguments.get(key[0], "") if not key[1] else "",
        )
