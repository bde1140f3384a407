"""Findings and links of code as records of report.json, the same that pages show."""

from collections.abc import Sequence
from dataclasses import replace

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.recompilations import recompilation
from xlareport.analysis.modules.retraces import RetraceGroup
from xlareport.pages import words
from xlareport.pages.module_work import ModuleResult
from xlareport.records.report import FindingRecord, ModuleView

RECOMPILATIONS = "recompilations"
"""The rule whose places are modules, by their keys."""
_PIECES = frozenset({"copied-out autotuning piece", "part of another compilation"})
"""Roles of modules that repeat a part of another one: that one has the finding."""


def with_findings(
    view: ModuleView, result: ModuleResult, retraced: Sequence[RetraceGroup]
) -> ModuleView:
    """Return the record of a module with what stands out and with its code."""
    cost = result.expense if view.role not in _PIECES else None
    found = list(cost.findings) if cost else []
    if cost and view.retrace_group is not None and view.role not in words.HELPERS:
        found.append(recompilation(retraced[view.retrace_group]))
    return replace(
        view,
        findings=tuple(map(finding_record, found)),
        code=result.code.links if result.code else (),
    )


def finding_record(one: Finding) -> FindingRecord:
    """Return a finding as report.json has it."""
    return FindingRecord(
        rule=one.rule,
        title=one.title[:1].upper() + one.title[1:],
        grade=one.grade,
        evidence=one.evidence,
        suggestion=one.suggestion,
        places=one.places,
    )
