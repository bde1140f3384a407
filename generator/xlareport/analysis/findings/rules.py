"""All rules, and their findings in order of what is at stake."""

from xlareport.analysis.findings.convert_pairs import convert_pairs
from xlareport.analysis.findings.expanded_loops import expanded_loops
from xlareport.analysis.findings.finding import Case, Finding, Rule
from xlareport.analysis.findings.gathered_once import gathered_once
from xlareport.analysis.findings.host_transfers import host_transfers
from xlareport.analysis.findings.large_constants import large_constants
from xlareport.analysis.findings.layout_copies import layout_copies
from xlareport.analysis.findings.out_of_memory import out_of_memory
from xlareport.analysis.findings.random_numbers import random_numbers
from xlareport.analysis.findings.refused_fusions import refused_fusions
from xlareport.analysis.findings.slow_fusions import slow_fusions
from xlareport.analysis.findings.starved_products import starved_products
from xlareport.analysis.findings.tile_padding import tile_padding
from xlareport.analysis.findings.undonated_inputs import undonated_inputs
from xlareport.analysis.findings.unfused_chains import unfused_chains
from xlareport.analysis.findings.unused_donations import unused_donations
from xlareport.analysis.findings.waiting_collectives import waiting_collectives
from xlareport.analysis.findings.wide_products import wide_products

OF_THE_PROGRAM: tuple[Rule, ...] = (
    large_constants,
    out_of_memory,
    undonated_inputs,
    unused_donations,
    wide_products,
)
"""Rules about what the framework asked for: true of any snapshot."""
OF_THE_RESULT: tuple[Rule, ...] = (
    convert_pairs,
    expanded_loops,
    gathered_once,
    host_transfers,
    layout_copies,
    random_numbers,
    refused_fusions,
    slow_fusions,
    starved_products,
    tile_padding,
    unfused_chains,
    waiting_collectives,
)
"""Rules about what the compiler left: true only where it had finished."""
RULES: tuple[Rule, ...] = (*OF_THE_PROGRAM, *OF_THE_RESULT)


def findings(case: Case) -> tuple[Finding, ...]:
    """Return what the rules say of a module, what weighs most first."""
    rules = RULES if case.is_optimised else OF_THE_PROGRAM
    findings = [finding for rule in rules for finding in rule(case)]
    return tuple(
        sorted(findings, key=lambda finding: (-finding.weight, finding.rule, finding.places))
    )
