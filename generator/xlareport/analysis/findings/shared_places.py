"""Findings on the same instruction: one has the cause, the others refer to it."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from xlareport.analysis.findings.exposed_collectives import exposed_collectives
from xlareport.analysis.findings.finding import Finding, join_names, rule_id
from xlareport.analysis.findings.slow_fusions import slow_fusions
from xlareport.analysis.findings.starved_products import starved_products
from xlareport.analysis.findings.waiting_collectives import waiting_collectives
from xlareport.hlo.model import InstructionKey
from xlareport.runtime.english import first_few

_GENERAL = frozenset(
    map(rule_id, (exposed_collectives, slow_fusions, starved_products, waiting_collectives))
)
"""Rules on what an instruction costs, whatever the cause."""
_NAMED = 2


def refer_to_causes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings of which the general ones name those that have the cause of a place."""
    findings = tuple(findings)
    causes: dict[InstructionKey, list[Finding]] = {}
    for finding in findings:
        if finding.rule not in _GENERAL and finding.seconds and finding.places:
            causes.setdefault(finding.places[0], []).append(finding)
    return tuple(_refer(finding, causes) for finding in findings)


def _refer(finding: Finding, causes: Mapping[InstructionKey, Sequence[Finding]]) -> Finding:
    """Return a general finding with a sentence on the causes that other findings have."""
    shared = [place for place in finding.places if place in causes]
    if finding.rule not in _GENERAL or not shared:
        return finding
    titles = dict.fromkeys(f"`{cause.title}`" for place in shared for cause in causes[place])
    names = join_names(name for _, name in shared)
    words = f"{names}: see also {first_few([*titles], _NAMED)}. What they save is the same time."
    return replace(finding, evidence=f"{finding.evidence} {words}")
