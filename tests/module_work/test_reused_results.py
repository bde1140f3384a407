"""The result of a module that repeats another one."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from xlareport.analysis.module import AnalysisOptions
from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source
from xlareport.module_work.process import ModuleResult, ModuleTask, process_module
from xlareport.module_work.reused_results import duplicate_result, duplicate_texts


@pytest.fixture(scope="module")
def pair(
    unpacked: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[ModuleResult, ModuleFiles]:
    """Return the result of a module, and the files of its copy in another folder."""
    folder = tmp_path_factory.mktemp("two")
    for rank in ("0", "1"):
        copytree(unpacked("jax-cpu-train"), folder / rank)
    with open_source(folder) as source:
        modules = group(name_files(source)).modules
    first, second = (files for files in modules if files.name == "jit_rollout")
    return process_module(ModuleTask(first, AnalysisOptions())), second


def test_everything_names_the_files_of_the_duplicate(
    pair: tuple[ModuleResult, ModuleFiles],
) -> None:
    result, files = pair
    copy = duplicate_result(result, files, (), identical=True).analysis
    own = {artifact.path for artifact in files.artifacts}
    assert copy.summary.files.key == files.key
    assert copy.read
    assert set(copy.read) <= own
    for stage in copy.summary.stages:
        assert {artifact.path for artifact in stage.stage.artifacts} <= own
    assert copy.summary.final_stage in copy.summary.files.stages


def test_the_analysis_is_that_of_the_original(pair: tuple[ModuleResult, ModuleFiles]) -> None:
    result, files = pair
    copy = duplicate_result(result, files, (), identical=False).analysis
    original = result.analysis
    assert copy.same_as is original.summary.files
    assert not copy.is_identical
    assert copy.cost is original.cost
    assert [stage.step for stage in copy.summary.stages] == [
        stage.step for stage in original.summary.stages
    ]
    assert copy.summary.text_bytes == original.summary.text_bytes > 0


def test_only_its_texts_are_stored_again(pair: tuple[ModuleResult, ModuleFiles]) -> None:
    result, files = pair
    texts = duplicate_texts(files)
    output = duplicate_result(result, files, texts, identical=True).output
    assert output.payloads == texts
    assert all("/texts" in path for path, _ in texts)
    assert not output.small
    assert not output.requests
