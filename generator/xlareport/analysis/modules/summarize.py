"""A module that was read becomes its summary: the figures that travel between processes."""

from collections import Counter
from collections.abc import Sequence

from xlareport import reader_table
from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.cost.custom_calls import count_dependent_steps, known_bytes, most_flops
from xlareport.analysis.cost.heavy import rank_heaviest
from xlareport.analysis.cost.loops import unevaluated_conditions
from xlareport.analysis.cost.memory import MemoryFigures, collect_memory_figures
from xlareport.analysis.cost.occupancy import Occupancy, occupancy_of
from xlareport.analysis.cost.roofline import estimate_weight
from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.modules.features import NO_FILES, extract_features
from xlareport.analysis.modules.module_origin import Origin, origin_of
from xlareport.analysis.modules.settings import classify_option
from xlareport.analysis.modules.signature import read_signature
from xlareport.analysis.modules.summary import (
    CustomCallWork,
    ModuleFigures,
    ModuleSummary,
    SnapshotSummary,
    StepSummary,
)
from xlareport.analysis.modules.tpu_flags import compare_flags
from xlareport.analysis.operation_families import count_operations
from xlareport.analysis.source.locations import is_framework
from xlareport.dump.modules import ModuleFiles, SnapshotFiles
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS
from xlareport.knowledge.opcodes import is_collective
from xlareport.program import ParsedModule, unread
from xlareport.runtime.errors import Problem

_HEAVIEST = 15

_MATRIX = MATRIX_PRODUCTS | {"custom-call"}
_BITS = frozenset(
    {"xor", "or", "and", "not", "shift-left", "shift-right-logical", "shift-right-arithmetic"}
)


def summarize_unread(files: ModuleFiles, problem: Problem) -> ModuleSummary:
    """Make the summary of a module of which nothing could be read."""
    module = unread(files, problem)
    return summarize_module(module, origin_of(module), [], None)


def summarize_module(
    module: ParsedModule,
    origin: Origin,
    steps: Sequence[StepSummary | None],
    costed: CostedModule | None,
) -> ModuleSummary:
    """Make the summary; `steps` has an entry for each snapshot read, None first."""
    texts = [snapshot.hlo for snapshot in module.snapshots]
    final, cost = module.final, costed.cost if costed else None
    files = module.memory
    memory = collect_memory_figures(files.assignment, files.live, files.usage)
    occupancy = occupancy_of(files)
    instructions = final.hlo.instructions if final else ()
    counts = Counter(instruction.opcode for instruction in instructions)
    flags = module.side.of(reader_table.FLAGFILE)
    return ModuleSummary(
        files=module.files,
        display_name=_display_name(module),
        origin=origin,
        stages=_stages(module, steps),
        signature=read_signature(final.hlo if final else HloModule("", "", ())),
        final_stage=final.stage if final else None,
        final=_module_figures(final.hlo if final else None, cost, memory, occupancy),
        heaviest=_heaviest(costed) if costed else (),
        opcodes=tuple(counts.most_common()),
        operations=tuple(count_operations(final.hlo).most_common()) if final else (),
        matrix_flops=_flops_of(_MATRIX, final.hlo, cost) if final and cost else 0,
        bit_flops=_flops_of(_BITS, final.hlo, cost) if final and cost else 0,
        collectives=_count_collectives(counts),
        user_lines=_user_lines(texts[0]) if texts else 0,
        settings=tuple(classify_option(setting, origin.backend) for setting in module.settings),
        problems=module.problems,
        tpu_flags=compare_flags(flags or (), module.files.build),
        open_work=_open_work(cost) if cost else 0.0,
        launches=_launches(final.hlo, cost) if final and cost and _is_optimized(module) else 0,
        calls=_custom_calls(final.hlo, cost) if final and cost else CustomCallWork(),
        features=extract_features(texts, final.hlo if final else None),
        text_bytes=text_bytes(final.stage) if final else 0,
    )


def _heaviest(costed: CostedModule) -> tuple[str, ...]:
    """Return the names of the heaviest instructions."""
    ranked = rank_heaviest(costed.cost, costed.device, _HEAVIEST)
    return tuple(name for (_, name), _ in ranked)


def _count_collectives(opcodes: Counter[str]) -> int:
    """Count the collectives, of those in two parts the starts."""
    return sum(
        count
        for opcode, count in opcodes.items()
        if is_collective(opcode) and not opcode.endswith("-done")
    )


def text_bytes(stage: SnapshotFiles) -> int:
    """Return the bytes of a snapshot's file, the largest of several."""
    return max(artifact.entry.size for artifact in stage.artifacts)


def _display_name(module: ParsedModule) -> str:
    """Return the name in the HloModule line, which file names may have lost; dot files lack it."""
    stated = [
        snapshot.hlo.name
        for snapshot in module.snapshots
        if snapshot.read_from.name.kind != "hlo-dot"
    ]
    return next(filter(None, stated), module.files.name)


def _flops_of(opcodes: frozenset[str], module: HloModule, cost: ModuleCost) -> int:
    """Return the flops of some opcodes over all runs, inside of fusions as well."""
    return sum(
        (instruction.flops or 0) * instruction.counted
        for (computation, name), instruction in cost.instructions.items()
        if module.by_name[computation].by_name[name].opcode in opcodes
    )


def _open_work(cost: ModuleCost) -> float:
    """Return the work in loops of unknown trip count; fusions count as a whole."""
    costs = (
        instruction
        for instruction in cost.instructions.values()
        if instruction.executions is None and not instruction.fused
    )
    return sum((estimate_weight(cost) for cost in costs), 0.0)


def _is_optimized(module: ParsedModule) -> bool:
    """Return whether the last snapshot is after all passes: only then are there fusions."""
    return module.final is not None and module.final.stage.name.endswith("after_optimizations")


def _launches(module: HloModule, cost: ModuleCost) -> int:
    """Return the number of launched instructions; a fusion counts as one."""
    conditions = unevaluated_conditions(module)
    return sum(
        instruction.counted
        for (computation, _), instruction in cost.instructions.items()
        if computation not in conditions
        and not instruction.fused
        and instruction.bytes_accessed != 0
    )


def _custom_calls(module: HloModule, cost: ModuleCost) -> CustomCallWork:
    """Return the work of custom calls that no count includes."""
    steps, hidden, size, flops = 0.0, 0, 0, 0.0
    for computation, instruction, instruction_cost in cost.placed(module):
        if instruction.opcode != "custom-call" or not instruction_cost.counted:
            continue
        site = Site(instruction, shapes_of(computation))
        steps += instruction_cost.counted * count_dependent_steps(site)
        if instruction_cost.flops is None:
            hidden += 1
            size += instruction_cost.counted * known_bytes(site)
            flops += instruction_cost.counted * most_flops(site)
    return CustomCallWork(steps, hidden, size, flops)


def _user_lines(module: HloModule) -> int:
    lines = {
        (frame.file, frame.line)
        for frame in module.stack_frames.values()
        if not is_framework(frame.file)
    }
    if not module.stack_frames:
        places = (instruction.metadata for instruction in module.instructions)
        lines = {
            (place.source_file, place.source_line or 0) for place in places if place.source_file
        }
        lines = {place for place in lines if not is_framework(place[0])}
    return sum(file not in NO_FILES for file, _ in lines)


def _module_figures(
    module: HloModule | None,
    cost: ModuleCost | None,
    memory: MemoryFigures,
    occupancy: Occupancy | None,
) -> ModuleFigures:
    return ModuleFigures(
        instructions=module.instruction_count if module else None,
        computations=len(module.computations) if module else None,
        flops=cost.flops if cost else None,
        bytes_accessed=cost.bytes_accessed if cost else None,
        unknown_ops=cost.unknown_ops if cost else None,
        branches=cost.branches if cost else None,
        xla_flops=cost.xla_flops if cost else None,
        xla_bytes_accessed=cost.xla_bytes_accessed if cost else None,
        allocated_bytes=memory.allocated_bytes,
        live_peak_bytes=memory.live_peak_bytes,
        occupied_peak_bytes=occupancy.peak if occupancy else None,
        temp_bytes=memory.temp_bytes,
    )


def _stages(
    module: ParsedModule, steps: Sequence[StepSummary | None]
) -> tuple[SnapshotSummary, ...]:
    read = {
        snapshot.stage: (snapshot.hlo, step)
        for snapshot, step in zip(module.snapshots, steps, strict=True)
    }
    keys: Counter[str] = Counter()
    stages = []
    for stage in module.files.stages:
        keys[stage.key] += 1
        key = stage.key if keys[stage.key] == 1 else f"{stage.key}~{keys[stage.key]}"
        hlo, step = read.get(stage, (None, None))
        stages.append(
            SnapshotSummary(
                key=key,
                stage=stage,
                instructions=hlo.instruction_count if hlo else None,
                computations=len(hlo.computations) if hlo else None,
                step=step,
            )
        )
    return tuple(stages)
