"""A fault in one part of a module's pages costs that part, and is told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis import module as analysis
from xlareport.analysis.module import AnalysisOptions
from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source
from xlareport.module_work import process
from xlareport.module_work.process import ModuleTask, process_module
from xlareport.pages.module import output as pages
from xlareport.storage.payloads import unpack_small_payloads

PARTS = {
    "kept_texts": "/texts",
    "computation_payloads": "/versions",
    "history_payloads": "/history",
    "graph_payloads": "/graph",
    "module_pictures": "",
    "report_cost": "",
    "code_payloads": "/code",
    "read_code_files": "/code",
}
"""What fails, and what the names of its payloads hold; nothing where it has none of its own."""


@pytest.fixture(scope="module")
def files(unpacked: Callable[[str], Path]) -> ModuleFiles:
    with open_source(unpacked("jax-cpu-train")) as source:
        modules = group(name_files(source)).modules
    return next(module for module in modules if module.name == "jit_rollout")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_fails_costs_itself(
    part: str, files: ModuleFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    where = next(place for place in (pages, process, analysis) if hasattr(place, part))
    monkeypatch.setattr(where, part, fail)
    result = process_module(ModuleTask(files, AnalysisOptions()))
    summary, output = result.analysis.summary, result.output

    assert summary.final.instructions
    assert [
        problem.message for problem in summary.problems if "ZeroDivisionError" in problem.message
    ]
    made = {path for path, _ in output.payloads} | {
        one.key for one in unpack_small_payloads(output.small)
    }
    assert any("/step" in path for path in made)
    others = {name for name in PARTS.values() if name and name != PARTS[part]}
    assert all(any(name in path for path in made) for name in others)


def test_none_fails_by_itself(files: ModuleFiles) -> None:
    result = process_module(ModuleTask(files, AnalysisOptions()))
    assert result.analysis.summary.problems == ()
    assert result.analysis.cost
    assert result.analysis.code
    assert result.output.pictures


def test_the_result_is_the_same_by_any_number_of_processes(
    files: ModuleFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = process_module(ModuleTask(files, AnalysisOptions()))
    assert process_module(ModuleTask(files, AnalysisOptions(), 3)) == alone

    def fail(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(pages, "history_payloads", fail)
    faulty = process_module(ModuleTask(files, AnalysisOptions(), 3))
    (problem,) = faulty.analysis.summary.problems
    assert "The histories could not be made" in problem.message
    assert faulty == process_module(ModuleTask(files, AnalysisOptions()))
