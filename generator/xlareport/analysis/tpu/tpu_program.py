"""One TPU program: figures from its files, and the schedule for its page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.work import InstructionCost
from xlareport.analysis.tpu.code_figures import CodeFigures, count_code, count_lines
from xlareport.analysis.tpu.control import Action, bundles_with_operations, control_actions
from xlareport.analysis.tpu.core_units import find_bottleneck, measure_matrix_work, unit_uses
from xlareport.analysis.tpu.dynamic_cycles import DynamicCycles, dynamic_cycles
from xlareport.analysis.tpu.notes import CompilerNotes
from xlareport.analysis.tpu.program_record import TpuLoop, TpuProgram
from xlareport.analysis.tpu.schedule_view import ScheduleView, view_schedule
from xlareport.dump.llo import WHOLE_PROGRAMS
from xlareport.knowledge.devices import Device
from xlareport.knowledge.tpu_cores import TpuCore, cores_like
from xlareport.llo_files import LloProgram
from xlareport.readers.llo.bundles import BundleListing
from xlareport.readers.llo.regions import LoopBounds
from xlareport.readers.llo.utilization import Utilization
from xlareport.readers.llo.vmem_report import VmemUse
from xlareport.runtime.english import capitalize
from xlareport.runtime.errors import Problem

_SCALAR_SPILLS, _SCALAR_FILLS = "SMEM_SPILL_COUNT", "SMEM_FILL_COUNT"
_NO_LISTING = "Not known: the dump has no schedule of bundles (`packed-bundles-post-ra`)."
_CUT = "Not known: the schedule of bundles is cut off."
_TOP = "Not known: its loops call other programs."


class ProgramContext(Struct, frozen=True):
    """Facts about a program from other sources; None if unknown."""

    instruction: str | None
    notes: CompilerNotes | None
    cost: InstructionCost | None
    device: Device | None
    core: TpuCore | None
    vmem: VmemUse | None
    slots: Mapping[str, int]
    """Rows of the module's bundle profile."""
    emitted_range: tuple[int, int] | None
    calls: tuple[str, ...]
    sharing: tuple[str, ...]
    runs: int | None
    stages: tuple[str, ...]


class AnalyzedProgram(Struct, frozen=True):
    """A program with what its page shows."""

    record: TpuProgram
    view: ScheduleView | None
    problems: tuple[Problem, ...] = ()


def analyze_program(program: LloProgram, context: ProgramContext) -> AnalyzedProgram:
    """Work out the figures of a program from its files."""
    listing = program.schedule or program.final
    code = [*bundles_with_operations(listing.bundles)] if listing else []
    figures = count_code(code) if listing and listing.is_whole else None
    actions = control_actions(code) if program.schedule else {}
    slots = _delay_slots(program, context.core)
    dynamic = _dynamic(program, actions, slots, context)
    bounds = program.regions.loops if program.regions else ()
    loops = find_loops(
        actions, bounds, slots or 0, dynamic.counts, figures.waiting if figures else ()
    )
    counts = dynamic.counts
    units = unit_uses(program.used, program.used_final, counts)
    code_bundles, nonempty = _bundles(program, figures)
    disagreements = tuple(_disagreements(program, figures))
    record = TpuProgram(
        program=program.name,
        instruction=context.instruction,
        computation=context.notes.computation if context.notes else None,
        code_bundles=code_bundles,
        nonempty_bundles=nonempty,
        static_cycles=_count_bundles(program),
        dynamic_cycles=dynamic.cycles,
        dynamic_reason=dynamic.reason,
        loops=loops,
        units=units,
        bottleneck=find_bottleneck(units),
        **_spills(program, figures, context),
        register_pressure=(program.pressure or {}).get("vregs"),
        vmatmul=figures.vmatmul if figures else None,
        dma=figures.dma if figures else None,
        matrix=measure_matrix_work(
            program.used, counts, context.cost, context.device, context.core
        ),
        source_lines=count_lines(listing.bundles) if listing else (),
        is_partial=_is_partial(program) or bool(disagreements),
    )
    record = _with_context(record, context)
    return AnalyzedProgram(record, view_schedule(program, counts), disagreements)


def _with_context(record: TpuProgram, context: ProgramContext) -> TpuProgram:
    """Return the record with what is known from elsewhere."""
    cycles, clock = record.dynamic_cycles, context.core.clock if context.core else None
    return replace(
        record,
        vmem_bytes=_vmem(context),
        vmem_purposes=context.vmem.purposes if context.vmem else {},
        emitted_range=context.emitted_range,
        calls=context.calls,
        sharing=context.sharing,
        runs=context.runs,
        compiler_cycles=context.notes.estimated_cycles if context.notes else None,
        seconds=cycles / clock if cycles is not None and clock else None,
        hbm_seconds=_hbm_seconds(context),
        stages=context.stages,
    )


def _delay_slots(program: LloProgram, core: TpuCore | None) -> int | None:
    """Return the chip's, else what all chips with such units have."""
    if core is not None:
        return core.delay_slots
    alike = (
        {core.delay_slots for core in cores_like(program.used.capacity)} if program.used else set()
    )
    return alike.pop() if len(alike) == 1 else None


def _dynamic(
    program: LloProgram,
    actions: Mapping[int, Sequence[Action]],
    slots: int | None,
    context: ProgramContext,
) -> DynamicCycles:
    if program.schedule is None or not program.schedule.bundles:
        return DynamicCycles(None, _NO_LISTING)
    if not program.schedule.is_whole:
        return DynamicCycles(None, _CUT)
    if program.name in WHOLE_PROGRAMS and any(bundle.callee for bundle in program.schedule.bundles):
        return DynamicCycles(None, _TOP)
    return dynamic_cycles(
        actions,
        len(program.schedule.bundles),
        slots,
        program.regions.loops if program.regions else (),
        context.notes.iterations if context.notes else None,
    )


def _bundles(program: LloProgram, figures: CodeFigures | None) -> tuple[int | None, int | None]:
    """Return bundles of the final code and those that start something."""
    if program.counts:
        return program.counts.total, program.counts.nonempty
    final = _whole_listing(program.final)
    total = len(final.bundles) if final else None
    if total is None and program.used_final and program.used_final.is_whole:
        total = program.used_final.rows
    return total, figures.nonempty if figures else None


def _count_bundles(program: LloProgram) -> int | None:
    if program.used and program.used.is_whole:
        return program.used.rows
    schedule = _whole_listing(program.schedule)
    return len(schedule.bundles) if schedule else None


def _whole_listing(listing: BundleListing | None) -> BundleListing | None:
    return listing if listing and listing.is_whole else None


def _spills(
    program: LloProgram, figures: CodeFigures | None, context: ProgramContext
) -> dict[str, Any]:
    """Return spills and fills: from the table, the profile of the module, else the listing."""
    table = program.used if program.used and program.used.is_whole else None
    stores = table.used("VSTORE:SPILL") if table else None
    loads = table.used("VLOAD:FILL") if table else None
    return {
        "spill_stores": figures.spill_stores if stores is None and figures else stores,
        "fill_loads": figures.fill_loads if loads is None and figures else loads,
        "spill_slots": program.regions.spill_slots if program.regions else None,
        "scalar_spills": figures.scalar_spills if figures else context.slots.get(_SCALAR_SPILLS),
        "scalar_fills": figures.scalar_fills if figures else context.slots.get(_SCALAR_FILLS),
    }


def _vmem(context: ProgramContext) -> int | None:
    noted = context.notes.scoped_vmem if context.notes else None
    return context.vmem.scoped if noted is None and context.vmem else noted


def _hbm_seconds(context: ProgramContext) -> float | None:
    if context.cost is None or context.device is None or context.cost.main_memory_bytes is None:
        return None
    return context.cost.main_memory_bytes / context.device.bandwidth


def _is_partial(program: LloProgram) -> bool:
    tables = (program.used, program.used_final)
    listings = (program.schedule, program.final)
    return any(table is None or not table.is_whole for table in (*tables, *listings))


def _disagreements(program: LloProgram, figures: CodeFigures | None) -> Iterator[Problem]:
    """Yield the counts of two files that should be equal and are not."""
    schedule, final = _whole_listing(program.schedule), _whole_listing(program.final)
    used, used_final = program.used, program.used_final
    pairs = (
        ("the schedule", schedule and len(schedule.bundles), "its table", _table_rows(used)),
        ("the final code", final and len(final.bundles), "its table", _table_rows(used_final)),
        (
            "the final code",
            final and len(final.bundles),
            "its analysis",
            program.counts.total if program.counts else None,
        ),
        (
            "bundles that are not empty",
            figures.nonempty if figures else None,
            "the analysis",
            program.counts.nonempty if program.counts else None,
        ),
    )
    for first, count, other, second in pairs:
        if count is not None and second is not None and count != second:
            message = f"{first} of {program.name}: {count}, {other}: {second}."
            yield Problem(program.path, None, capitalize(message))


def _table_rows(table: Utilization | None) -> int | None:
    return table.rows if table and table.is_whole else None


def find_loops(
    actions: Mapping[int, Sequence[Action]],
    bounds: Sequence[LoopBounds],
    delay_slots: int,
    counts: Sequence[int] | None,
    waiting: Sequence[int],
) -> tuple[TpuLoop, ...]:
    """Return the loops of a program, outer ones first.

    `bounds` are those that the compiler states; they are joined to the code where the limit of a
    back branch's comparison is the same.
    """
    places = sorted(_back_branches(actions), key=lambda place: (place[0], -place[1]))
    stated = list(bounds)
    loops = []
    for begin, branch in places:
        taken = _take(stated, _limit(actions, branch))
        end = branch + 1 + delay_slots
        loops.append(
            TpuLoop(
                begin=begin,
                end=end,
                depth=1 + sum(outer <= begin and branch < last for outer, last in places),
                start=taken.start if taken else None,
                step=taken.step if taken else None,
                limit=taken.limit if taken else None,
                runs=counts[begin] if counts else None,
                dma_waits=sum(begin <= address < end for address in waiting),
            )
        )
    unplaced = (
        TpuLoop(None, None, 1, stated_loop.start, stated_loop.step, stated_loop.limit, None)
        for stated_loop in stated
    )
    return (*loops, *unplaced)


def _back_branches(actions: Mapping[int, Sequence[Action]]) -> Iterator[tuple[int, int]]:
    for address, members in actions.items():
        for action in members:
            if action.branch is not None and 0 <= action.branch <= address:
                yield action.branch, address


def _limit(actions: Mapping[int, Sequence[Action]], branch: int) -> int | None:
    """Return the constant that the branch's predicate was compared with."""
    predicate = next(action.predicate for action in actions[branch] if action.is_branch)
    for address in sorted((address for address in actions if address <= branch), reverse=True):
        for action in actions[address]:
            if action.target == predicate:
                last = action.arguments[-1] if action.arguments else None
                return last if isinstance(last, int) and action.opcode.startswith("scmp") else None
    return None


def _take(stated: list[LoopBounds], limit: int | None) -> LoopBounds | None:
    """Take the first stated bounds with a limit out of the list."""
    for place, bounds in enumerate(stated):
        if limit is not None and bounds.limit == limit:
            return stated.pop(place)
    return LoopBounds(None, None, limit) if limit is not None and not stated else None
