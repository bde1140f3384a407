"""Ranks on the page of the program: the matrix, and what is said of differences."""

from pathlib import Path

from tests.analysis.ranks.program import STAGES, replaced, swapped, write_ranks

from xlareport.pages.program.rank_matrix import describe_rank, ranks_section, tabulate_ranks
from xlareport.records.report import ReportRecord
from xlareport.report import BuildOptions, read_report

AFTER = STAGES[-1]


def seeded(root: Path) -> ReportRecord:
    dangerous = {AFTER: swapped}
    harmless = dict.fromkeys(STAGES, replaced("index = 12", "index = 13"))
    return read_report(write_ranks(root, 6, {3: dangerous, 4: harmless}), BuildOptions())


def test_the_gravest_difference_is_told_first(tmp_path: Path) -> None:
    section = ranks_section(seeded(tmp_path))
    assert section is not None
    first, second = section.details
    assert (first.verdict, second.verdict) == ("dangerous", "harmless")
    assert "rank_3" in first.lead
    assert dict(first.rows)["Instruction"] == "gather; most ranks: reduce"
    assert dict(second.rows)["Most ranks"] == "{index = 12 : ui64}"


def test_the_matrix_has_a_column_for_ranks_that_are_alike(tmp_path: Path) -> None:
    table = tabulate_ranks(seeded(tmp_path))
    titles = [column.title for column in table.columns]
    assert titles == ["Module", "Verdict", "rank_0 and 3 more", "rank_3", "rank_4"]
    (row,) = table.rows
    assert row[1] == ["dangerous", "xr-removed"]
    assert [cell[0] for cell in row[2:] if isinstance(cell, list)] == ["A", "B", "C"]


def test_equal_ranks_are_said_to_be_equal(tmp_path: Path) -> None:
    report = read_report(write_ranks(tmp_path, 3, {}), BuildOptions())
    assert describe_rank(report) == "All 3 ranks compiled the same module: no difference."
    section = ranks_section(report)
    assert section is not None
    assert section.details == ()


def test_a_rank_without_a_module_is_named(tmp_path: Path) -> None:
    root = write_ranks(tmp_path, 4, {})
    for rank in range(3):
        for stage in STAGES:
            text = (root / f"rank_{rank}" / f"module_0001.jit_step.{stage}.txt").read_text()
            other = root / f"rank_{rank}" / f"module_0003.jit_eval.{stage}.txt"
            other.write_text(text.replace("jit_step", "jit_eval").replace("tanh", "log"))
    report = read_report(root, BuildOptions())
    assert "`jit_eval` is missing in `rank_3`." in describe_rank(report)
    assert [row[-1] for row in tabulate_ranks(report).rows].count("\N{EN DASH}") == 1
    verdicts = [row[1][0] for row in tabulate_ranks(report).rows if isinstance(row[1], list)]
    assert sorted(verdicts) == ["not in every rank", "same"]


def test_one_process_has_no_section(tmp_path: Path) -> None:
    report = read_report(write_ranks(tmp_path, 1, {}), BuildOptions())
    assert ranks_section(report) is None
