"""Findings of a module as records of report.json."""

from collections.abc import Sequence

from xlareport.analysis.cost_report.report import CostReport
from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.recompilations import recompilation
from xlareport.analysis.modules.recompilations import RetraceGroup
from xlareport.records.report import FindingRecord, ModuleRecord

RECOMPILATIONS = "recompilations"
"""The rule whose places are modules, by their keys."""
HELPERS = frozenset(
    {"one-op eager module", "cast or transfer", "random numbers", "copied-out autotuning piece"}
)
"""Roles of modules that nobody wrote as a program."""
_PIECES = frozenset({"copied-out autotuning piece", "part of another compilation"})
"""Roles of modules that repeat a part of another one: that one has the finding."""


def finding_records(
    record: ModuleRecord, cost: CostReport | None, recompilations: Sequence[RetraceGroup]
) -> tuple[FindingRecord, ...]:
    """Return the findings of a module; what was cut out of another one has none of its own."""
    if cost is None or record.role in _PIECES:
        return ()
    findings = list(cost.findings)
    if record.retrace_group is not None and record.role not in HELPERS:
        findings.append(recompilation(recompilations[record.retrace_group]))
    return tuple(map(finding_record, findings))


def finding_record(finding: Finding) -> FindingRecord:
    """Return a finding as report.json has it."""
    return FindingRecord(
        rule=finding.rule,
        title=finding.title[:1].upper() + finding.title[1:],
        grade=finding.grade,
        evidence=finding.evidence,
        suggestion=finding.suggestion,
        places=finding.places,
    )
