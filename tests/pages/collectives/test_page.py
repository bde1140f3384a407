"""The page on collectives of small real dumps, as a record."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.analyzed import analyze_named
from tests.pages.records_of_modules import module

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.collective_rows import CollectivesReport
from xlareport.analysis.collectives.counted_once import LoopCountedOnce
from xlareport.analysis.cost.interconnect_time import ModeledTime
from xlareport.pages.collectives.page import _once, collectives_page, describe_collectives


def report_of(dump: Path, name: str) -> CollectivesReport:
    report = analyze_named(dump, name).analysis.collectives
    assert report is not None
    return report


def test_the_page_of_eight_gpus(unpacked: Callable[[str], Path]) -> None:
    report = report_of(unpacked("sharded-gpu"), "jit_fsdp_step")
    page = collectives_page(module("main"), report)
    assert page.lead == (
        "4 collectives; 736 KiB sent per device and module execution (2 by one-shot kernels, "
        "others by ring algorithms, no in-network reduction)."
    )
    assert "Not validated" in page.model
    assert "as if all 8 devices were in one host, which the dump does not say" in page.model
    assert "where GPUs have no access to each other's memory, NCCL runs instead." in page.model
    assert "https://" in page.model_source
    assert [figure.label for figure in page.figures] == [
        "Collectives",
        "Bytes sent",
        "On all devices",
        "Modeled time",
        "Exposed",
        "Hideable",
    ]
    assert set(page.tables) == {"collectives", "origins", "trails", "members", "overlap"}
    assert all(
        len(row) == len(table.columns) for table in page.tables.values() for row in table.rows
    )


@pytest.mark.parametrize(
    ("domain", "devices", "words"),
    [(8, 16, "as if each 8 consecutive devices were one host"), (None, 16, "without latency. Not")],
)
def test_the_model_says_which_devices_it_takes_for_one_host(
    domain: int | None, devices: int, words: str, unpacked: Callable[[str], Path]
) -> None:
    report = report_of(unpacked("sharded-gpu"), "jit_fsdp_step")
    other = replace(report, interconnect_domain=domain, devices=devices)
    assert words in collectives_page(module("main"), other).model


def test_the_model_names_latency_where_times_contain_it(unpacked: Callable[[str], Path]) -> None:
    report = report_of(unpacked("sharded-gpu"), "jit_fsdp_step")
    timed = [
        replace(row, figures=replace(row.figures, time=ModeledTime(1e-6, "450 GB/s")))
        for row in report.rows
    ]
    words = collectives_page(module("main"), replace(report, rows=tuple(timed))).model
    assert "+ latency of each step" in words
    assert "without latency" not in words


def test_no_more_is_hidden_than_is_modeled(unpacked: Callable[[str], Path]) -> None:
    """Modeled time is hidden and exposed time; the work meanwhile can be longer than both."""
    tables = collectives_page(
        module("main"), report_of(unpacked("sharded-gpu"), "jit_fsdp_step")
    ).tables
    overview, overlap = tables["collectives"], tables["overlap"]
    modeled = [column.title for column in overview.columns].index("Modeled µs")
    titles = [column.title for column in overlap.columns]
    places = [titles.index(title) for title in ("Hidden µs", "Exposed µs", "Work meanwhile µs")]
    longer = 0
    for row, other in zip(overview.rows, overlap.rows, strict=True):
        whole = row[modeled]
        hidden, exposed, work = (other[place] for place in places)
        assert isinstance(hidden, float)
        assert isinstance(exposed, float)
        assert isinstance(work, float)
        assert hidden + exposed == pytest.approx(whole, abs=2e-3)
        longer += work > hidden + 1e-3
    assert longer, "some work is longer than what it hides"


def test_groups_are_drawn_once_each(unpacked: Callable[[str], Path]) -> None:
    page = collectives_page(module("main"), report_of(unpacked("sharded-gpu"), "jit_fsdp_step"))
    assert [group.title for group in page.groups] == ["G1", "G2"]
    assert [group.words for group in page.groups] == [
        "4 groups of 2 devices",
        "2 groups of 4 devices",
    ]
    first = str(page.groups[0].drawing)
    assert first.count("<td") == 8
    assert first.count("<tr>") == 2
    assert first.count("xr-hue-0") == 2


def test_pairs_are_listed(unpacked: Callable[[str], Path]) -> None:
    page = collectives_page(module("main"), report_of(unpacked("sharded-cpu"), "jit_blurred"))
    assert "0→1 1→2" in str(page.groups[0].drawing)
    assert page.lead.startswith("2 collectives; 2.0 to 4.0 KiB sent per device")
    sent, together = page.figures[1:3]
    assert sent.note == "per device and module execution"
    assert (sent.value, together.value) == ("2.0 to 4.0 KiB", "28.0 KiB"), "2 x 2 KiB x 7 pairs"
    assert len(page.groups) == 1, "both directions of an exchange are one grouping"
    assert "1→0 2→1" in str(page.groups[0].drawing)
    assert "no times" in page.model
    assert not page.model_source


@pytest.mark.parametrize("dump", ["sharded-cpu", "sharded-tpu"])
def test_without_collectives_the_words_say_so(dump: str, unpacked: Callable[[str], Path]) -> None:
    assert describe_collectives(None) == "No collectives."
    report = report_of(unpacked(dump), "jit_experts")
    assert describe_collectives(report).startswith("3 collectives; ")


def test_what_a_costlier_branch_replaces_is_not_said_to_send_nothing(
    unpacked: Callable[[str], Path],
) -> None:
    report = report_of(unpacked("sharded-gpu"), "jit_fsdp_step")
    row = report.rows[0]
    left_out = replace(row, figures=replace(row.figures, counted=0, is_left_out=True))
    page = collectives_page(module("main"), replace(report, rows=(left_out,)))
    assert page.tables["collectives"].rows[0][1:4] == ["not counted: cheaper branch", None, None]


def test_a_sharding_is_not_said_to_be_unknown_of_what_the_program_has(
    unpacked: Callable[[str], Path],
) -> None:
    report = report_of(unpacked("sharded-gpu"), "jit_fsdp_step")
    row = replace(report.rows[0], sharding=None, sharding_reason="in the program")
    for cause, before in ((CauseKind.USER, None), (CauseKind.RESHARDING, "(in the program)")):
        own = replace(row, origin=replace(row.origin, cause=cause))
        table = collectives_page(module("main"), replace(report, rows=(own,))).tables["origins"]
        titles = [column.title for column in table.columns]
        assert table.rows[0][titles.index("Sharding before")] == before


@pytest.mark.parametrize(
    ("executions", "per_iteration", "cell"),
    [(12, None, 12), (None, 6, "6 per iteration"), (None, None, None)],
)
def test_executions_of_a_loop_of_unknown_trip_count_are_per_iteration(
    unpacked: Callable[[str], Path],
    executions: int | None,
    per_iteration: int | None,
    cell: int | str | None,
) -> None:
    report = report_of(unpacked("sharded-gpu"), "jit_fsdp_step")
    row = report.rows[0]
    figures = replace(row.figures, executions=executions, per_iteration=per_iteration)
    shown = replace(report, rows=(replace(row, figures=figures),))
    table = collectives_page(module("main"), shown).tables["collectives"]
    titles = [column.title for column in table.columns]
    assert table.rows[0][titles.index("Executions")] == cell


@pytest.mark.parametrize(
    ("most", "words"),
    [
        (
            (24, None),
            "run in %w0 (at most 24), %w1 (no known bound), whose trip counts are unknown",
        ),
        ((None, None), "run in %w0, %w1, whose trip counts are unknown and have no known bound"),
        ((None,), "runs in %w0, whose trip count is unknown and has no known bound"),
        ((24,), "runs in %w0 (at most 24), whose trip count is unknown"),
    ],
)
def test_figures_of_one_iteration_say_so(most: tuple[int | None, ...], words: str) -> None:
    loops = tuple(LoopCountedOnce(f"w{number}", bound, 1) for number, bound in enumerate(most))
    report: Any = SimpleNamespace(counted_once=loops)
    assert _once(report) == f" {len(loops)} of them {words}; figures count one iteration."
    assert not _once(SimpleNamespace(counted_once=()))  # type: ignore[arg-type]
