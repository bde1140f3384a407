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
