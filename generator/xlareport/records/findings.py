"""The findings of a module in report.json: ranked by what a remedy can save at most."""

from collections.abc import Sequence

from msgspec.structs import replace

from xlareport.analysis.cost.looped import CountedOnce, time_at_most
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.analysis.findings.finding import Finding, rule_id
from xlareport.analysis.findings.rules import OF_HELPERS, OF_STEPS
from xlareport.analysis.modules.module_role import HELPERS, PIECES, ModuleRole
from xlareport.records.report import ModuleRecord
from xlareport.runtime import english

_OF_HELPERS = frozenset(map(rule_id, OF_HELPERS))
_OF_STEPS = frozenset(map(rule_id, OF_STEPS))
_LEVELS = (("high", 0.1), ("medium", 0.03), ("low", 0.0))
"""Each with the least part of the roofline time or of the memory."""
_FULL = 0.5
"""Part of the device memory in use from which a memory saving counts whole."""
SEVERITIES = tuple(name for name, _ in _LEVELS)


def finding_records(
    record: ModuleRecord, cost: CostReport | None, recompilations: Sequence[Finding | None]
) -> tuple[Finding, ...]:
    """Return the findings of a module, ranked; what was cut out of another one has none.

    `recompilations` are those of the groups of the dump; None for operations outside of jit, which
    JAX compiles once for each shape.
    """
    if cost is None or record.role in PIECES:
        return ()
    is_program = record.role not in HELPERS
    findings = [finding for finding in cost.findings if is_program or finding.rule in _OF_HELPERS]
    if record.role == ModuleRole.INITIALIZATION:
        findings = [finding for finding in findings if finding.rule not in _OF_STEPS]
    again = recompilations[record.retrace_group] if record.retrace_group is not None else None
    if again is not None and is_program:
        findings.append(again)
    ranked = sorted(findings, key=lambda finding: -_share(finding, cost))
    rated = [rate_finding(finding, cost) for finding in ranked]
    return tuple(sorted(rated, key=lambda finding: SEVERITIES.index(finding.severity)))


def candidate_records(record: ModuleRecord, cost: CostReport | None) -> tuple[Finding, ...]:
    """Return the savings of a small program that are too little for a finding, as low ones."""
    if cost is None or record.role in (*PIECES, *HELPERS):
        return ()
    ranked = sorted(cost.candidates, key=lambda finding: -_share(finding, cost))
    return tuple(replace(rate_finding(finding, cost), severity="low") for finding in ranked)


def rate_finding(finding: Finding, cost: CostReport) -> Finding:
    """Return a finding with its severity in a module of such cost, as report.json has it."""
    return replace(
        finding,
        title=english.capitalize(finding.title),
        severity=_severity(finding, cost),
        occurrences=finding.count,
    )


def _severity(finding: Finding, cost: CostReport) -> str:
    """Return the severity of the larger part of time or memory at stake, or a higher one stated."""
    share = _share(finding, cost)
    by_share = next(name for name, least in _LEVELS if share >= least)
    return min(by_share, finding.severity, key=SEVERITIES.index)


def _share(finding: Finding, cost: CostReport) -> float:
    """Return the part of the module's time or of the memory that is at stake, the larger one."""
    # The share of the true time is not known beside loops of unknown trip count.
    time_share = 0.0 if finding.beside_loops else _time_share(finding, cost)
    beside = sum(
        part or 0.0
        for part in (finding.latency_seconds, finding.cycle_seconds, finding.padding_seconds)
    )
    whole = cost.whole_seconds
    return max(
        time_share,
        beside / (beside + whole) if whole else 0.0,
        _memory_share(finding, cost),
    )


def _memory_share(finding: Finding, cost: CostReport) -> float:
    """Return the share of the memory that is at stake, less where most of the device is free."""
    used, available = device_bytes(cost), cost.device.memory
    if not finding.bytes or not used:
        return 0.0
    fullness = used / (_FULL * available) if available else 1.0
    return finding.bytes / used * min(fullness, 1.0)


def _time_share(finding: Finding, cost: CostReport) -> float:
    """Return the largest share of the time: that at the most iterations of loops around it."""
    seconds, whole = finding.seconds or 0.0, cost.whole_seconds
    if not whole:
        return 0.0
    if not finding.in_loops:
        return seconds / whole
    loops = [
        CountedOnce(row.instruction, row.seconds or 0.0, row.trip_count.most)
        for row in cost.loops
        if row.instruction in finding.in_loops
    ]
    return time_at_most(seconds, finding.seconds_in_loops or 0.0, whole, loops).highest


def device_bytes(cost: CostReport) -> int | None:
    """Return the bytes of device memory that a module uses; None if unknown."""
    memory = cost.memory
    if memory.figures.held is not None:
        return memory.figures.held.total_bytes
    estimate = memory.estimate.bytes if memory.estimate else None
    return memory.figures.allocated_bytes or estimate
