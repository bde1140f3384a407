"""All that is worked out about one module; what fails costs its own part."""

import re
from pathlib import Path

import pytest
from tests.analysis.located_module import TEXT

from xlareport.analysis import module as module_analysis
from xlareport.analysis.module import AnalysisOptions
from xlareport.analysis.modules.marker import (
    SlowMarkerError,
)
from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import Artifact
from xlareport.dump.source import open_source


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


def name_files_of(folder: Path) -> list[Artifact]:
    with open_source(folder) as source:
        return name_files(source)
