"""Findings and code of a module as records of report.json."""

from collections.abc import Sequence
from dataclasses import replace

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.recompilations import recompilation
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.retraces import RetraceGroup
from xlareport.records.report import FindingRecord, ModuleView

RECOMPILATIONS = "recompilations"
"""The rule whose places are modules, by their keys."""
HELPERS = frozenset(
    {"one-op eager module", "cast or transfer", "random numbers", "copied-out autotuning piece"}
)
"""Roles of modules that nobody wrote as a program."""
_PIECES = frozenset({"copied-out autotuning piece", "part of another compilation"})
"""Roles of modules that repeat a part of another one: that one has the finding."""


def with_findings(
    record: ModuleView, module: ModuleAnalysis, recompilations: Sequence[RetraceGroup]
) -> ModuleView:
    """Return the record of a module with its findings and its code."""
    cost = module.expense if record.role not in _PIECES else None
    findings = list(cost.findings) if cost else []
    if cost and record.retrace_group is not None and record.role not in HELPERS:
        findings.append(recompilation(recompilations[record.retrace_group]))
    return replace(
        record,
        findings=tuple(map(finding_record, findings)),
        code=module.code.links if module.code else (),
    )


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
