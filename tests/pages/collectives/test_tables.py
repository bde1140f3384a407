"""The tables of collectives: rows of a real module with a figure or a fact changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.analyzed import analyze_named

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.collective_rows import CollectiveRow, CollectivesReport
from xlareport.analysis.collectives.schedule import WaitReason
from xlareport.analysis.collectives.sharding_pair import ShardingPair
from xlareport.pages.collectives.tables import tabulate_collectives
from xlareport.pages.tables import Cell, Table


@pytest.fixture(scope="module")
def report(unpacked: Callable[[str], Path]) -> CollectivesReport:
    collectives = analyze_named(unpacked("sharded-gpu"), "jit_fsdp_step").analysis.collectives
    assert collectives is not None
    return collectives


def cell(table: Table, title: str, place: int = 0) -> Cell:
    titles = [column.title for column in table.columns]
    return table.rows[place][titles.index(title)]


def shown(report: CollectivesReport, row: CollectiveRow, name: str, title: str) -> Cell:
    tables = tabulate_collectives(replace(report, rows=(row,)), {"stage": "12 spmd"})
    return cell(tables[name], title)


def with_figures(row: CollectiveRow, **figures: Any) -> CollectiveRow:
    return replace(row, figures=replace(row.figures, **figures))


def with_overlap(row: CollectiveRow, **overlap: Any) -> CollectiveRow:
    return with_figures(row, overlap=replace(row.figures.overlap, **overlap))


def test_a_module_has_the_tables_that_have_rows(report: CollectivesReport) -> None:
    every = ["collectives", "origins", "trails", "members", "overlap"]
    assert [*tabulate_collectives(report, {})] == every
    bare = tuple(replace(row, trail=(), members=()) for row in report.rows)
    tables = tabulate_collectives(replace(report, rows=bare), {})
    assert [*tables] == ["collectives", "origins", "overlap"]
    assert {len(table.rows) for table in tables.values()} == {len(report.rows)}


def test_figures_are_of_all_executions_that_count(report: CollectivesReport) -> None:
    row = with_figures(report.rows[0], wire_bytes=1000, counted=3)
    row = with_figures(row, time=replace(row.figures.time, seconds=2e-6))
    row = with_overlap(row, exposed_seconds=0.5e-6, hideable_seconds=1e-6, work_seconds=4e-6)
    assert shown(report, row, "collectives", "Sent") == 3000
    assert shown(report, row, "collectives", "Sent per execution") == 1000
    assert shown(report, row, "collectives", "Modeled µs") == 6.0
    assert shown(report, row, "overlap", "Hidden µs") == 4.5
    assert shown(report, row, "overlap", "Exposed µs") == 1.5
    assert shown(report, row, "overlap", "Hideable µs") == 3.0
    assert shown(report, row, "overlap", "Work meanwhile µs") == 12.0


def test_what_is_not_known_is_empty_and_what_does_not_count_says_so(
    report: CollectivesReport,
) -> None:
    row = report.rows[0]
    assert shown(report, with_figures(row, wire_bytes=None), "collectives", "Sent") is None
    unknown = with_overlap(row, exposed_seconds=None)
    assert shown(report, unknown, "overlap", "Hidden µs") is None
    left_out = with_figures(row, is_left_out=True)
    assert shown(report, left_out, "collectives", "Sent") == "not counted: cheaper branch"
    assert shown(report, left_out, "collectives", "Modeled µs") is None


@pytest.mark.parametrize(
    ("between", "words"),
    [
        (None, "none (synchronous)"),
        ((), "none"),
        (("a", "b"), "%a, %b"),
        (tuple("abcdef"), "%a, %b, %c, %d and 2 more"),
    ],
)
def test_what_runs_meanwhile(
    between: tuple[str, ...] | None, words: str, report: CollectivesReport
) -> None:
    row = with_overlap(report.rows[0], between=between)
    assert shown(report, row, "overlap", "Runs meanwhile") == words


@pytest.mark.parametrize(
    ("thread", "words", "is_sync"),
    [("", "fusion", None), ("sparsecore", "fusion, thread sparsecore, is_sync", True)],
)
def test_the_form_has_thread_and_whether_it_is_synchronous(
    thread: str, words: str, report: CollectivesReport, *, is_sync: bool | None
) -> None:
    row = report.rows[0]
    changed = replace(row.collective, form="fusion", thread=thread, is_sync=is_sync)
    assert shown(report, with_figures(row, collective=changed), "overlap", "Form") == words


@pytest.mark.parametrize("reason", [None, *WaitReason])
def test_a_reason_is_in_words_for_any_device(
    reason: WaitReason | None, report: CollectivesReport
) -> None:
    words = shown(
        report, with_overlap(report.rows[0], reason=reason), "collectives", "Not hidden because"
    )
    assert words == (reason and {"is_sync": "synchronous"}.get(reason.value, reason.value))


def test_a_sharding_that_is_not_known_has_a_reason_but_not_of_the_programs_own(
    report: CollectivesReport,
) -> None:
    row = replace(report.rows[0], sharding=None, sharding_reason="no snapshot has it")
    own = replace(row, origin=replace(row.origin, cause=CauseKind.USER))
    other = replace(row, origin=replace(row.origin, cause=None))
    assert shown(report, own, "origins", "Sharding before") is None
    assert shown(report, other, "origins", "Sharding before") == "(no snapshot has it)"
    assert shown(report, other, "origins", "Sharding after") is None
    assert shown(report, other, "origins", "Value") is None


def test_a_sharding_is_that_of_its_value(report: CollectivesReport) -> None:
    known = next(row.sharding for row in report.rows if row.sharding)
    assert isinstance(known, ShardingPair)
    row = replace(report.rows[0], sharding=known)
    assert shown(report, row, "origins", "Value") == known.value
    assert shown(report, row, "origins", "Sharding before") == known.from_


@pytest.mark.parametrize(
    ("stage", "reason", "words"),
    [("stage", None, "12 spmd"), ("other", None, "other"), (None, "not dumped", "(not dumped)")],
)
def test_the_first_snapshot_has_its_number(
    stage: str | None, reason: str | None, words: str, report: CollectivesReport
) -> None:
    row = report.rows[0]
    origin = replace(row.origin, stage=stage, stage_reason=reason)
    assert shown(report, replace(row, origin=origin), "origins", "First in") == words


def test_what_was_folded_into_a_member_is_no_member(report: CollectivesReport) -> None:
    row = next(row for row in report.rows if row.members)
    folded = replace(row.members[0], folded=("all-reduce.4",))
    why = shown(report, replace(row, members=(folded,)), "members", "Why")
    assert str(why).endswith(" all-reduce.4, which it read, was folded into it.")
