"""Results of modules in the cache: each value comes back as it was, with files of this build."""

from pathlib import Path

import pytest
from msgspec import msgpack
from msgspec.structs import replace
from tests.fixtures.dumps import Unpack

from xlareport.analysis.module import AnalysisOptions
from xlareport.dump.grouping import group_source
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source
from xlareport.module_work.kept_form import decode_result, encode_result
from xlareport.module_work.process import ModuleResult, ModuleTask, process_module
from xlareport.storage.typed_values import list_values


def results(folder: Path) -> list[tuple[ModuleFiles, ModuleResult]]:
    with open_source(folder) as source:
        modules = group_source(source).grouped.modules
        made = [process_module(ModuleTask(files, AnalysisOptions())) for files in modules]
    without = [replace(result, output=replace(result.output, requests=())) for result in made]
    return [*zip(modules, without, strict=True)]


@pytest.fixture(scope="module")
def small(data: Path) -> tuple[ModuleFiles, ModuleResult]:
    return results(data / "truncated")[0]


def same_values(result: ModuleResult, other: ModuleResult) -> bool:
    """Compare results with the types of their numbers; equal sets may be in another order."""
    return result == other and repr(list_values(result)) == repr(list_values(other))


@pytest.mark.parametrize(
    "name", ["findings", "jax-cpu-train", "tagged-cpu-ring", "tpu-v5e-kernels"]
)
def test_results_come_back_with_the_types_of_their_values(unpacked: Unpack, name: str) -> None:
    for files, result in results(unpacked(name)):
        content = encode_result(result, files)
        assert not content.startswith(b"["), "a number is none of its type"
        again = decode_result(content, files)
        assert same_values(again, result)
        assert again.analysis.summary.files is files
        paths = {artifact.path: artifact for artifact in files.artifacts}
        for snapshot in again.analysis.summary.stages:
            assert all(file is paths[file.path] for file in snapshot.stage.artifacts)


def test_a_whole_number_in_place_of_a_float_stays_one(
    small: tuple[ModuleFiles, ModuleResult],
) -> None:
    files, result = small
    for number in (7, 1 << 40):
        summary = replace(result.analysis.summary, open_work=number)
        odd = replace(result, analysis=replace(result.analysis, summary=summary))
        content = encode_result(odd, files)
        assert content.startswith(b"[")
        assert same_values(decode_result(content, files), odd)


def test_a_number_that_is_none_is_not_kept(small: tuple[ModuleFiles, ModuleResult]) -> None:
    files, result = small
    summary = replace(result.analysis.summary, open_work=float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        encode_result(replace(result, analysis=replace(result.analysis, summary=summary)), files)


def test_other_files_and_other_forms_are_refused(small: tuple[ModuleFiles, ModuleResult]) -> None:
    files, result = small
    content = encode_result(result, files)
    with pytest.raises(ValueError, match="another module"):
        decode_result(content, replace(files, key="another"))
    with pytest.raises(KeyError):
        decode_result(content, replace(files, artifacts=(), stages=(), nameless=(), llo=()))
    form = msgpack.decode(content)
    for altered in (content[:-1], b"", b"\x90", msgpack.encode(form | {"stages": []})):
        with pytest.raises((ValueError, TypeError, KeyError)):
            decode_result(altered, files)


def test_a_result_of_more_than_its_files_is_refused(
    small: tuple[ModuleFiles, ModuleResult],
) -> None:
    files, result = small
    repeated = replace(result, analysis=replace(result.analysis, same_as=files))
    with pytest.raises(ValueError, match="alone"):
        encode_result(repeated, files)
