"""Real dumps, each with a few of its files broken at random: a report of the rest, and no fault.

`XLAREPORT_MUTATIONS` says how many; each number is a dump, always the same. `fuzz/mutate.py` takes
thousands of them.
"""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mutate import InThisProcess
from mutations import broken, fixtures, write
from tests.walks import LONG_WALKS

from xlareport import report
from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.report import BuildOptions, build

COUNT = int(os.environ.get("XLAREPORT_MUTATIONS", "20" if LONG_WALKS else "8"))
STEP = 7
"""Numbers between one dump and the next, so that few of them take very different ones."""


@pytest.fixture(scope="module")
def dumps() -> Iterator[Callable[[int], Path]]:
    with fixtures() as found:
        yield found


@pytest.mark.parametrize("number", range(0, COUNT * STEP, STEP))
def test_a_broken_dump_gives_a_report_without_a_fault(
    number: int, tmp_path: Path, dumps: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "WorkerPool", InThisProcess)
    luck = random.Random(number)  # noqa: S311 - the same dumps every time are what is wanted
    files = broken(dumps(number), luck)
    write(files, tmp_path / "dump")
    cost_options = CostOptions(with_source=True)
    options = BuildOptions(tmp_path / "out", html=False, pictures="none", cost_options=cost_options)

    built = build(tmp_path / "dump", options)

    assert not [
        problem for problem in built.report.problems if "fault of xlareport" in problem.message
    ]
    assert len(built.report.files) == len(files)
