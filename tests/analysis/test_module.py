"""All that is worked out about one module; what fails costs its own part."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analysis.located_module import TEXT

from xlareport.analysis import module as module_analysis
from xlareport.analysis import module_steps
from xlareport.analysis.module import AnalysisOptions
from xlareport.analysis.modules.marker import (
    SlowMarkerError,
)
from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import Artifact
from xlareport.dump.source import open_source
from xlareport.runtime.faults import Faults


def test_a_marker_given_up_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ages(*_: object) -> None:
        raise SlowMarkerError

    monkeypatch.setattr(module_analysis, "find_marker", ages)
    path = tmp_path / "module_0001.x.before_optimizations.txt"
    path.write_text(TEXT)
    (files,) = group(name_files_of(tmp_path)).modules
    result = module_analysis.outline_module(files, AnalysisOptions(re.compile("x")))
    assert result.marker is None
    assert result.summary.stages[0].instructions == 2
    assert [problem.message for problem in result.summary.problems if "--marker" in problem.message]


def test_a_step_that_fails_costs_no_other_part(
    unpacked: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise KeyError("node")

    monkeypatch.setattr(module_steps, "step", fails)
    with open_source(unpacked("jax-cpu-train-allformats")) as source:
        (files,) = (
            files for files in group(name_files(source)).modules if files.name == "jit_train_step"
        )
        faults = Faults("dump")
        made = module_analysis.analyze_module(files, AnalysisOptions(), faults, lambda *_: None)
    assert made.analysis.cost is not None
    assert made.snapshots is None
    assert made.module.snapshots[1].read_from.path in {problem.path for problem in faults.problems}
    assert all("KeyError" in problem.message for problem in faults.problems)
    assert len(faults.problems) == len(made.module.snapshots) - 1


def name_files_of(folder: Path) -> list[Artifact]:
    with open_source(folder) as source:
        return name_files(source)
