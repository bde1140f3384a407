"""All rules, and their findings in order of what is at stake."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from msgspec.structs import replace

from xlareport.analysis.findings.accumulated_reductions import accumulated_reductions
from xlareport.analysis.findings.attention_scores import attention_scores
from xlareport.analysis.findings.carried_constants import carried_constants
from xlareport.analysis.findings.chained_collectives import chained_collectives
from xlareport.analysis.findings.constant_collectives import constant_collectives
from xlareport.analysis.findings.contiguous_copies import contiguous_copies
from xlareport.analysis.findings.convert_pairs import convert_pairs
from xlareport.analysis.findings.copied_carries import copied_carries
from xlareport.analysis.findings.copied_state import copied_state
from xlareport.analysis.findings.copied_updates import copied_updates
from xlareport.analysis.findings.dense_gradients import dense_gradients
from xlareport.analysis.findings.detoured_values import detoured_values
from xlareport.analysis.findings.double_upcasts import double_upcasts
from xlareport.analysis.findings.empty_permutes import empty_permutes
from xlareport.analysis.findings.exposed_collectives import exposed_collectives
from xlareport.analysis.findings.filled_stacks import filled_stacks
from xlareport.analysis.findings.finding import (
    MOST_PLACES,
    Case,
    Finding,
    Rule,
    join_names,
    rule_id,
)
from xlareport.analysis.findings.float_upcasts import float_upcasts
from xlareport.analysis.findings.gathered_once import gathered_once
from xlareport.analysis.findings.host_transfers import host_transfers
from xlareport.analysis.findings.inserted_zeros import inserted_zeros
from xlareport.analysis.findings.invariant_collectives import invariant_collectives
from xlareport.analysis.findings.involuntary_rematerializations import (
    involuntary_rematerializations,
)
from xlareport.analysis.findings.large_constants import large_constants
from xlareport.analysis.findings.layout_copies import layout_copies
from xlareport.analysis.findings.loop_invariant_work import loop_invariant_work
from xlareport.analysis.findings.looped_collectives import looped_collectives
from xlareport.analysis.findings.out_of_memory import out_of_memory
from xlareport.analysis.findings.padded_products import padded_products
from xlareport.analysis.findings.random_numbers import random_numbers
from xlareport.analysis.findings.rearranged_inputs import rearranged_inputs
from xlareport.analysis.findings.rebuilt_inputs import rebuilt_inputs
from xlareport.analysis.findings.refused_fusions import refused_fusions
from xlareport.analysis.findings.repeated_all_gathers import repeated_all_gathers
from xlareport.analysis.findings.replicated_parameters import replicated_parameters
from xlareport.analysis.findings.replicated_work import replicated_work
from xlareport.analysis.findings.resharded_state import resharded_state
from xlareport.analysis.findings.rewritten_slices import rewritten_slices
from xlareport.analysis.findings.same_tiles import same_tiles
from xlareport.analysis.findings.serial_loops import serial_loops
from xlareport.analysis.findings.short_kernels import short_kernels
from xlareport.analysis.findings.sliced_operands import sliced_operands
from xlareport.analysis.findings.slow_fusions import slow_fusions
from xlareport.analysis.findings.small_collectives import small_collectives
from xlareport.analysis.findings.split_products import split_products
from xlareport.analysis.findings.starved_products import starved_products
from xlareport.analysis.findings.tile_padding import tile_padding
from xlareport.analysis.findings.undonated_inputs import undonated_inputs
from xlareport.analysis.findings.unfused_chains import unfused_chains
from xlareport.analysis.findings.unknown_loops import qualify_shares
from xlareport.analysis.findings.unread_collectives import unread_collectives
from xlareport.analysis.findings.unused_donations import unused_donations
from xlareport.analysis.findings.waiting_collectives import waiting_collectives
from xlareport.analysis.findings.wide_collectives import wide_collectives
from xlareport.analysis.findings.wide_products import wide_products
from xlareport.hlo.model import InstructionKey
from xlareport.knowledge.grades import weakest
from xlareport.runtime import units
from xlareport.runtime.english import first_few
from xlareport.runtime.grouping import group_by_key

OF_THE_PROGRAM: tuple[Rule, ...] = (
    out_of_memory,
    undonated_inputs,
    large_constants,
    wide_products,
    double_upcasts,
    replicated_parameters,
    involuntary_rematerializations,
)
"""Rules about the input program: true of any snapshot. The guide lists them in this order."""
OF_THE_RESULT: tuple[Rule, ...] = (
    unused_donations,
    resharded_state,
    rebuilt_inputs,
    rearranged_inputs,
    layout_copies,
    convert_pairs,
    copied_updates,
    copied_state,
    copied_carries,
    carried_constants,
    filled_stacks,
    loop_invariant_work,
    sliced_operands,
    rewritten_slices,
    dense_gradients,
    float_upcasts,
    unfused_chains,
    attention_scores,
    refused_fusions,
    tile_padding,
    inserted_zeros,
    padded_products,
    replicated_work,
    split_products,
    same_tiles,
    small_collectives,
    contiguous_copies,
    accumulated_reductions,
    looped_collectives,
    chained_collectives,
    gathered_once,
    detoured_values,
    wide_collectives,
    repeated_all_gathers,
    invariant_collectives,
    unread_collectives,
    empty_permutes,
    constant_collectives,
    waiting_collectives,
    exposed_collectives,
    host_transfers,
    serial_loops,
    short_kernels,
    random_numbers,
    starved_products,
    slow_fusions,
)
"""Rules about the output of the compiler, in the order of the guide; not for unfinished modules."""
RULES: tuple[Rule, ...] = (*OF_THE_PROGRAM, *OF_THE_RESULT)
OF_HELPERS: tuple[Rule, ...] = (large_constants, out_of_memory)
"""Rules that also apply to helper modules; operations outside of jit donate nothing."""
NEGLIGIBLE = 1e-8
"""Seconds of all executions in a run: a hundredth of the launch of one kernel."""
OF_STEPS: tuple[Rule, ...] = (random_numbers,)
"""Rules that do not apply to initializations, because these run once."""


def find_findings(case: Case) -> tuple[Finding, ...]:
    """Return what the rules say of a module, what weighs most first, each title once.

    Without its entry computation a module is a part of a program: nothing is said of it.
    """
    entry = case.module.entry
    if entry is None or not entry.is_entry:
        return ()
    rules = RULES if case.is_optimized else OF_THE_PROGRAM
    findings = qualify_shares(case, chain.from_iterable(map(case.findings_of, rules)))
    merged = merge_findings(map(_shortened, refer_to_causes(findings)))
    return tuple(finding for finding in merged if not _is_negligible(finding))


def _is_negligible(finding: Finding) -> bool:
    """Return whether all that a finding saves is time, and too little to be worth a look."""
    return 0 < finding.any_seconds < NEGLIGIBLE and not finding.bytes


def _shortened(finding: Finding) -> Finding:
    """Return a finding with the first places alone; how many there are stays."""
    return replace(finding, places=finding.places[:MOST_PLACES], occurrences=finding.count)


def find_candidates(case: Case) -> tuple[Finding, ...]:
    """Return what would be findings if their savings were not that small.

    They save less than 2 µs or 1 MiB, and at least 5% of the time or the memory of the module.
    """
    if not case.is_small:
        return ()
    findings = find_findings(replace(case, with_candidates=True))
    return tuple(finding for finding in findings if finding.seconds or finding.bytes)


def merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return what weighs most first, each title once."""
    ordered = sorted(findings, key=_order)
    alike = group_by_key(((finding.rule, finding.title), finding) for finding in ordered)
    return tuple(sorted(map(_join_alike, alike.values()), key=_order))


def _order(finding: Finding) -> tuple[float, str, tuple[InstructionKey, ...]]:
    return -finding.weight, finding.rule, finding.places


def _join_alike(alike: Sequence[Finding]) -> Finding:
    """Return findings of one title as one: the first in full, the others counted."""
    first, *rest = alike
    if not rest:
        return first
    places = dict.fromkeys(place for finding in alike for place in finding.places)
    again = units.plural(len(rest), "more occurrence")
    names = join_names(finding.places[0][1] for finding in rest)
    return replace(
        first,
        places=tuple(places)[:MOST_PLACES],
        evidence=f"{first.evidence} {again}: {names}.",
        grade=weakest(finding.grade for finding in alike),
        weight=sum(finding.weight for finding in alike),
        seconds=_sum([finding.seconds for finding in alike]),
        latency_seconds=_sum([finding.latency_seconds for finding in alike]),
        cycle_seconds=_sum([finding.cycle_seconds for finding in alike]),
        padding_seconds=_sum([finding.padding_seconds for finding in alike]),
        bytes=_sum([finding.bytes for finding in alike]),
        occurrences=sum(finding.count for finding in alike),
        beside_loops=first.beside_loops if all(other.beside_loops for other in rest) else (),
        in_loops=tuple(dict.fromkeys(loop for finding in alike for loop in finding.in_loops)),
        seconds_in_loops=_sum([finding.seconds_in_loops for finding in alike]),
    )


_Number = TypeVar("_Number", int, float)


def _sum(values: Sequence[_Number | None]) -> _Number | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers[1:], numbers[0]) if numbers else None


_GENERAL = frozenset(
    map(rule_id, (exposed_collectives, slow_fusions, starved_products, waiting_collectives))
)
"""Rules on what an instruction costs, whatever the cause."""
_NAMED = 2


def refer_to_causes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings of which the general ones name those that have the cause of a place."""
    findings = tuple(findings)
    causes = group_by_key(
        (finding.places[0], finding)
        for finding in findings
        if finding.rule not in _GENERAL and finding.seconds and finding.places
    )
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
