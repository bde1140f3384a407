"""The table of all modules: by rank, as one payload or as several."""

from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.dump import FileTotals
from xlareport.pages.modules import page
from xlareport.report import BuildOptions, read_report

Unpack = Callable[[str], Path]


def test_a_long_table_has_the_same_rows_by_rank(
    unpacked: Unpack, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = read_report(unpacked("jax-cpu-two-runs"), BuildOptions())
    counts = array("q", (len(module.files) for module in report.outlines))
    sizes = FileTotals(counts, array("q", range(len(counts))))
    whole = page.modules_table(report, sizes)
    monkeypatch.setattr(page, "PAGE", 2)
    made = page.modules_table(report, sizes)
    assert not isinstance(made.rows, list)
    assert list(made.rows) == list(whole.in_order())
    assert [row[-1] for row in made.rows] == list(range(1, len(report.outlines) + 1))
    assert made.first_rows() == whole.first_rows()


def test_a_cell_stands_under_its_heading(unpacked: Unpack) -> None:
    report = read_report(unpacked("jax-cpu-two-runs"), BuildOptions())
    counts = array("q", range(100, 100 + len(report.outlines)))
    sizes = FileTotals(counts, array("q", range(9000, 9000 + len(report.outlines))))
    table = page.modules_table(report, sizes)
    module, cells = report.outlines[0], table.rows[0]
    shown = {column.title: cell for column, cell in zip(table.columns, cells, strict=True)}
    assert (shown["Id"], shown["Role"], shown["Rank"]) == (module.id, module.role, module.rank)
    assert (shown["Files"], shown["Size"]) == (100, 9000)
    assert shown["FLOPs"] == module.final.flops
