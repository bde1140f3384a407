"""The findings of a module, ranked by what a remedy can save."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.pages.home.test_page import module

from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.cost_report.cost_report import CostReport, report_cost
from xlareport.analysis.findings.finding import Finding
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_module
from xlareport.records.findings import (
    candidate_records,
    device_bytes,
    finding_records,
    rate_finding,
)


@pytest.fixture(scope="module")
def cost(unpacked: Callable[[str], Path]) -> CostReport:
    with open_source(unpacked("gpu-h100x2-train")) as source:
        modules = group(name_files(source)).modules
        parsed = read_module(next(each for each in modules if "train_step" in each.key))
        costed = cost_module(parsed, "gpu")
        assert costed is not None
        return report_cost(costed)


FINDING = Finding("some title", (("e", "i"),), "evidence", "try", "exact", 1.0, "some-rule")


@pytest.mark.parametrize(
    ("share", "severity"), [(0.5, "high"), (0.05, "medium"), (0.01, "low"), (0.0, "low")]
)
def test_severity_is_the_share_of_time_or_memory(
    cost: CostReport, share: float, severity: str
) -> None:
    whole, memory = cost.seconds, device_bytes(cost)
    assert whole is not None
    assert memory is not None
    full = replace(cost, device=replace(cost.device, memory=memory))
    of_time = rate_finding(replace(FINDING, seconds=share * whole), full)
    of_memory = rate_finding(replace(FINDING, bytes=int(share * memory)), full)
    assert (of_time.severity, of_memory.severity) == (severity, severity)
    assert (of_time.title, of_time.bytes, of_memory.seconds) == ("Some title", None, None)


@pytest.mark.parametrize(
    ("capacity", "severity"),
    [(None, "high"), (2, "high"), (4, "high"), (8, "medium"), (100, "low")],
)
def test_memory_counts_less_where_most_of_the_device_is_free(
    cost: CostReport, capacity: int | None, severity: str
) -> None:
    memory = device_bytes(cost)
    assert memory is not None
    device = replace(cost.device, memory=capacity and capacity * memory)
    saving = replace(FINDING, bytes=memory // 4)
    assert rate_finding(saving, replace(cost, device=device)).severity == severity


def test_a_gain_that_is_not_known_is_low_but_for_rules_of_their_own(cost: CostReport) -> None:
    assert rate_finding(FINDING, cost).severity == "low"
    beside = replace(FINDING, seconds=cost.seconds, beside_loops=("loop",))
    assert rate_finding(beside, cost).severity == "low"
    assert rate_finding(replace(FINDING, severity="high"), cost).severity == "high"
    assert cost.seconds is not None
    most = replace(FINDING, severity="medium", seconds=cost.seconds)
    assert rate_finding(most, cost).severity == "high"


@pytest.mark.parametrize(
    ("role", "rules"),
    [
        ("main", {"large-constants", "out-of-memory", "random-numbers", "some-rule"}),
        ("initialization", {"large-constants", "out-of-memory", "some-rule"}),
        ("cast or transfer", {"large-constants", "out-of-memory"}),
        ("part of another compilation", set()),
    ],
)
def test_rules_apply_by_the_role_of_the_module(
    cost: CostReport, role: str, rules: set[str]
) -> None:
    ids = ("large-constants", "out-of-memory", "random-numbers", "some-rule")
    every = replace(cost, findings=tuple(replace(FINDING, rule=rule) for rule in ids))
    assert {finding.rule for finding in finding_records(module(role), every, ())} == rules


def test_findings_are_ranked_by_what_each_can_save(
    cost: CostReport,
) -> None:
    whole = cost.seconds
    assert whole is not None
    parts = [
        replace(FINDING, title=title, seconds=0.06 * whole, seconds_together=0.12 * whole)
        for title in ("synchronous", "compute depends on it")
    ]
    other = replace(FINDING, title="other", seconds=0.11 * whole)
    ranked = finding_records(module("main"), replace(cost, findings=(other, *parts)), ())
    assert [finding_record.severity for finding_record in ranked] == ["high", "medium", "medium"]
    assert ranked[0].title == "Other"
    gains = [finding_record.seconds or 0.0 for finding_record in ranked]
    assert gains == sorted(gains, reverse=True)


def test_candidates_of_a_program_are_low_the_largest_first(cost: CostReport) -> None:
    assert cost.seconds is not None
    shares = (0.2, 0.9)
    candidates = tuple(replace(FINDING, seconds=share * cost.seconds) for share in shares)
    small = replace(cost, findings=(), candidates=candidates)
    records = candidate_records(module("main"), small)
    assert [record.severity for record in records] == ["low", "low"]
    assert [record.seconds for record in records] == [0.9 * cost.seconds, 0.2 * cost.seconds]
    assert candidate_records(module("cast or transfer"), small) == ()
    assert candidate_records(module("main"), None) == ()


def test_an_initialization_is_not_told_to_make_fewer_random_numbers(cost: CostReport) -> None:
    random = replace(FINDING, rule="random-numbers")
    found = replace(cost, findings=(FINDING, random))
    for role, rules in (("main", 2), ("initialization", 1), ("part of another compilation", 0)):
        assert len(finding_records(module(role), found, ())) == rules


def test_an_operation_outside_jit_is_no_recompilation_though_it_comes_first(
    cost: CostReport,
) -> None:
    record = replace(module("main"), retrace_group=0)
    rules = [
        {
            finding_record.rule
            for finding_record in finding_records(record, replace(cost, findings=()), (again,))
        }
        for again in (FINDING, None)
    ]
    assert rules == [{"some-rule"}, set()]
