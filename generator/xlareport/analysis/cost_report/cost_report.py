"""The content of a module's cost pages: work, memory, source lines, findings."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from msgspec import Struct

from xlareport.analysis.code.later_instructions import LaterInstructions
from xlareport.analysis.collectives.collective_rows import CollectiveRow
from xlareport.analysis.cost.breakdown import (
    CostPart,
    break_down,
    divide_by_op,
    key_by_computation,
    key_by_scope,
)
from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.cost.cycles import list_without_cycles
from xlareport.analysis.cost.fusion_shares import Shares
from xlareport.analysis.cost.heavy import HeavyInstruction, list_heavy
from xlareport.analysis.cost.phases import key_by_layer, key_by_phase
from xlareport.analysis.cost.rematerialization import RecomputedFlops, count_recomputed
from xlareport.analysis.cost.roofline import (
    UnmodeledCollectives,
    count_unmodeled,
    estimate_asynchronous_time,
    measure_on_chip_share,
)
from xlareport.analysis.cost.time_basis import BY_CYCLES, ROOFLINE, CompilerCycles, sum_cycles
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.cost_report.memory_builder import report_memory
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.precision_report import (
    PrecisionSum,
    ProductRow,
    list_products,
    sum_by_precision,
)
from xlareport.analysis.cost_report.source_lines import (
    ReadLines,
    SourceEvidence,
    SourceReport,
    report_source_lines,
)
from xlareport.analysis.cost_report.work_report import (
    LoopRow,
    Totals,
    Uncounted,
    list_loops,
    list_uncounted,
    sum_totals,
)
from xlareport.analysis.findings.cases import make_case
from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.rules import find_candidates, find_findings
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.lost_metadata import restore_metadata
from xlareport.analysis.operation_families import family_in
from xlareport.analysis.shardings.sharding_report import ShardingReport
from xlareport.analysis.source.served_ops import OpShares, serve_ops
from xlareport.hlo.model import HloModule, InstructionKey
from xlareport.knowledge.devices import Device, device_named
from xlareport.reader_table import STABLEHLO

_ROWS = 200
_SCOPE_DEPTH = 3


class CostReport(Struct, frozen=True):
    """The cost of one run of a module on one device."""

    device: Device
    device_grade: str
    """`exact` where the dump names it, `matched` by its architecture, `chosen` by the user,
    `guessed` for round figures."""
    totals: Totals
    seconds: float | None
    """The roofline time, the sum of all instructions; None if nothing was counted."""
    cycles: CompilerCycles | None
    """The compiler's own estimate; None where the dump has none, as of other devices than TPUs."""
    on_chip_share: float
    """Part, 0 to 1, of the bytes accessed that the roofline time leaves out: on a TPU's chip."""
    asynchronous_seconds: float
    """The part of it between starts and dones, which other work can hide."""
    heaviest: tuple[HeavyInstruction, ...]
    loops: tuple[LoopRow, ...]
    uncounted: tuple[Uncounted, ...]
    computations: tuple[CostPart, ...]
    scopes: tuple[CostPart, ...]
    opcodes: tuple[CostPart, ...]
    phases: tuple[CostPart, ...]
    """Forward, backward, optimizer and others of a training step; empty for other modules."""
    layers: tuple[CostPart, ...]
    """By the scopes of op_names; of an empty name where they name none."""
    findings: tuple[Finding, ...]
    candidates: tuple[Finding, ...]
    """Savings below what a finding reports; empty if there are findings."""
    products: tuple[ProductRow, ...]
    """Dots, convolutions and library products, the most flops first."""
    precisions: tuple[PrecisionSum, ...]
    """The products summed up by precision."""
    recomputed: RecomputedFlops
    """The FLOPs of one run that are recomputed to save memory, by names and scopes."""
    memory: MemoryReport
    source: SourceReport
    without_cycles: tuple[tuple[str, int], ...] = ()
    """Scatters, sorts, gathers and custom fusions without estimated cycles, and how many."""
    unmodeled_collectives: UnmodeledCollectives | None = None
    """Collectives of which it has no time on links, such as those between cores of a chip."""
    restored_op_names: int = 0
    """Instructions without op_name in the final snapshot that have their history's."""

    @property
    def by_cycles(self) -> bool:
        """Whether times and shares are by the compiler's estimated cycles."""
        return self.cycles is not None and self.cycles.seconds is not None

    @property
    def time_name(self) -> str:
        """What the times of parts and all shares are: `roofline time`, or by cycles."""
        return BY_CYCLES if self.by_cycles else ROOFLINE

    @property
    def whole_seconds(self) -> float | None:
        """The time of which shares are: by the compiler's cycles where they cover the module."""
        return self.cycles.seconds if self.cycles and self.by_cycles else self.seconds


def _restored(written: HloModule, snapshots: SnapshotSequence | None) -> tuple[HloModule, int]:
    """Return the final snapshot with op_names from histories, and how many these are."""
    is_last = snapshots is not None and snapshots.modules[-1] is written
    return restore_metadata(snapshots) if snapshots and is_last else (written, 0)


def report_cost(
    costed: CostedModule,
    read: ReadLines | None = None,
    *,
    shardings: ShardingReport | None = None,
    snapshots: SnapshotSequence | None = None,
    collectives: Sequence[CollectiveRow] = (),
    later: LaterInstructions = MappingProxyType({}),
) -> CostReport:
    """Return the cost report of the final snapshot.

    `read` returns source texts, if given. From `snapshots`, matmuls, collectives and reduce-windows
    that lost their op_name get that of their history. `collectives` are of the final snapshot.
    """
    module, cost, device = costed.module, costed.cost, costed.device
    hlo, restored = _restored(costed.hlo, snapshots)
    earlier = (snapshot.hlo for snapshot in module.snapshots if snapshot.hlo is not costed.hlo)
    first = next(earlier, None)
    memory = _memory(costed, hlo, first, shardings)
    peak = memory.peak_lines if memory.at_peak_count else None
    served = serve_ops(hlo)
    findings, candidates = _search(costed, shardings, collectives, later)
    products = list_products(hlo, cost, device)
    operations = module.side.of(STABLEHLO) or ()
    evidence = SourceEvidence(first, hlo, operations, peak, served)
    return CostReport(
        device=device,
        device_grade=costed.device_grade,
        totals=sum_totals(cost),
        seconds=costed.roofline_seconds,
        cycles=sum_cycles(cost, device),
        without_cycles=list_without_cycles(hlo, cost),
        on_chip_share=measure_on_chip_share(cost) if device.key.startswith("tpu-") else 0.0,
        asynchronous_seconds=estimate_asynchronous_time(hlo, cost, device),
        unmodeled_collectives=count_unmodeled(cost, device),
        heaviest=tuple(list_heavy(hlo, cost, device, _ROWS, served)),
        loops=tuple(list_loops(hlo, cost, device)),
        uncounted=tuple(list_uncounted(hlo, cost))[:_ROWS],
        **_divide(hlo, cost, costed.divided, served),
        findings=findings,
        candidates=candidates,
        products=products,
        precisions=sum_by_precision(products),
        recomputed=count_recomputed(hlo, cost, first),
        memory=memory,
        source=report_source_lines(evidence, cost, costed.divided, read),
        restored_op_names=restored,
    )


def _memory(
    costed: CostedModule,
    hlo: HloModule,
    before: HloModule | None,
    shardings: ShardingReport | None,
) -> MemoryReport:
    """Return the memory of the module on the chip that the dump names, whatever the user chose."""
    module, chip = costed.module, device_named(costed.module.device_words)
    named = chip.key if chip else "", costed.backend
    return report_memory(
        module.memory, hlo, costed.cost, *named, before=before, shardings=shardings
    )


def _search(
    costed: CostedModule,
    shardings: ShardingReport | None,
    collectives: Sequence[CollectiveRow],
    later: LaterInstructions,
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings, and the candidates where there are none."""
    rematerializations = (shardings.rematerializations if shardings else None) or ()
    replicated = shardings.replicated_products if shardings else ()
    case = make_case(costed, rematerializations, collectives, later, replicated)
    findings = find_findings(case) if case else ()
    return findings, find_candidates(case) if case and not findings else ()


def _divide(
    hlo: HloModule, cost: ModuleCost, shares: Shares, served: Mapping[InstructionKey, OpShares]
) -> dict[str, tuple[CostPart, ...]]:
    """Return the cost by parts of each kind, by the fields of the report."""
    by_op = partial(divide_by_op, hlo, cost, shares=shares, served=served)
    phase = key_by_phase(hlo)
    return {
        "computations": break_down(hlo, cost, key_by_computation, shares)[:_ROWS],
        "scopes": by_op(key_by_scope(_SCOPE_DEPTH))[:_ROWS],
        "opcodes": break_down(hlo, cost, family_in, shares),
        "phases": by_op(phase) if phase else (),
        "layers": by_op(key_by_layer(hlo)),
    }
