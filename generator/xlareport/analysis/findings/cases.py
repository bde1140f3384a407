"""A module of a dump as the rules see it."""

from collections.abc import Sequence
from types import MappingProxyType

from xlareport import reader_table
from xlareport.analysis.code.decisions import group_decisions
from xlareport.analysis.code.later_instructions import LaterInstructions
from xlareport.analysis.collectives.collective_rows import CollectiveRow
from xlareport.analysis.collectives.remedies import find_scheduler_step, find_sync_step
from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.cost.memory import collect_memory_figures
from xlareport.analysis.findings.combined_chains import find_combiners
from xlareport.analysis.findings.emptied_pairs import find_emptying_step
from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.sunk import find_sunk
from xlareport.analysis.shardings.rematerializations import Rematerialization
from xlareport.analysis.shardings.replicated_products import ReplicatedProduct
from xlareport.analysis.skeleton.command_buffers import recorded_names
from xlareport.snapshots import ParsedSnapshot

_FINISHED = frozenset(
    {
        "after_optimizations",
        "after_optimization",
        "before_buffer_assignment",
        "after_buffer_assignment",
        "after_codegen",
    }
)
_BEGUN = frozenset({"before_optimizations", "before_optimization"})


def make_case(
    costed: CostedModule,
    rematerializations: Sequence[Rematerialization] = (),
    collectives: Sequence[CollectiveRow] = (),
    later: LaterInstructions = MappingProxyType({}),
    replicated: Sequence[ReplicatedProduct] = (),
) -> Case | None:
    """Return the case of a module; None for a piece of another one that was tuned by itself.

    `later` was made after the fusion pass: its log is not about these instructions.
    """
    module, final = costed.module, costed.final
    finished = _is_finished(final)
    if not finished and module.snapshots[0].stage.name not in _BEGUN:
        return None
    memory = module.memory
    linked, _ = group_decisions(module.code.decisions, final.hlo, later)
    return Case(
        module=final.hlo,
        cost=costed.cost,
        device=costed.device,
        before=module.snapshots[0].hlo if len(module.snapshots) > 1 else None,
        decisions=linked,
        later=frozenset(later),
        stages=frozenset(artifact.name.stage or "" for artifact in module.files.artifacts),
        memory=collect_memory_figures(memory.assignment, memory.live, memory.usage),
        settings={setting.name: setting.value for setting in module.settings},
        flags=module.flags,
        memory_files=memory,
        rematerializations=rematerializations,
        replicated=replicated,
        origins={row.collective.key: row.origin for row in collectives},
        scheduler_step=find_scheduler_step(module.snapshots),
        emptying_step=find_emptying_step(module.snapshots),
        combiners=find_combiners(module.snapshots),
        sunk=find_sunk(module.snapshots),
        sync_step=find_sync_step(module.snapshots),
        recorded=recorded_names(module.code),
        is_untuned=module.side.of(reader_table.AUTOTUNE_RESULTS) == (),
        is_optimized=finished,
    )


def _is_finished(final: ParsedSnapshot) -> bool:
    scheduled = final.hlo.is_scheduled
    return scheduled or final.stage.name in _FINISHED
