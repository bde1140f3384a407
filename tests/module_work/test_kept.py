"""Results of modules kept from build to build: found again only where all is the same."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.module import AnalysisOptions, unreadable_module
from xlareport.dump.grouping import group, name_files
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source
from xlareport.knowledge.devices import devices
from xlareport.module_work import kept
from xlareport.module_work.kept import KeptModules, keep_all_pictures
from xlareport.module_work.process import ModuleResult, ModuleTask, process_module
from xlareport.pages.pictures.requests import PictureChoice
from xlareport.reader_table import AUTOTUNE_RESULTS
from xlareport.storage.entry_store import EntryStore
from xlareport.storage.payloads import payload_path

OPTIONS = AnalysisOptions()
CHANGED = "module_0002.jit_train_step.before_optimizations.txt"


@pytest.fixture
def dump(data: Path, tmp_path: Path) -> Path:
    place = tmp_path / "dump"
    shutil.copytree(data / "truncated", place)
    return place


@pytest.fixture
def modules(tmp_path: Path) -> KeptModules:
    return KeptModules(EntryStore(tmp_path / "store", 1_000_000), "program")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the modules that were read and analyzed."""
    keys = []

    def process(task: ModuleTask, pictures: PictureChoice | None) -> ModuleResult:
        keys.append(task.files.key)
        return process_module(task, pictures)

    monkeypatch.setattr(kept, "process_module", process)
    return keys


def first_module(dump: Path) -> ModuleFiles:
    with open_source(dump) as source:
        return group(name_files(source)).modules[0]


def finish(modules: KeptModules, result: ModuleResult) -> None:
    paths = [payload_path(request.bundle or request.key) for request in result.output.requests]
    keep_all_pictures(modules, [result], dict.fromkeys(paths, "a picture"))


def test_a_result_is_found_again(dump: Path, modules: KeptModules, made: list[str]) -> None:
    files = first_module(dump)
    result = modules.process(ModuleTask(files, OPTIONS))
    finish(modules, result)
    again = modules.process(ModuleTask(files, OPTIONS))
    assert made == [files.key]
    assert again.analysis == result.analysis
    assert again.analysis.summary.files is files
    assert again.output.drawn is not None
    assert {text for _, text in again.output.drawn} <= {"a picture"}
    assert replace(again.output, drawn=None, requests=result.output.requests) == result.output


def test_side_files_that_pages_show_are_kept(
    dump: Path, modules: KeptModules, made: list[str]
) -> None:
    key = first_module(dump).key
    results = 'results {\n device: "sm_90"\n result {\n gemm {\n algorithm: 3\n }\n }\n}\n'
    (dump / f"{key}.autotune_results.pbtxt").write_text(results)
    files = first_module(dump)
    result = modules.process(ModuleTask(files, OPTIONS))
    finish(modules, result)
    again = modules.process(ModuleTask(files, OPTIONS))
    assert made == [key]
    (tuned,) = again.analysis.side.of(AUTOTUNE_RESULTS) or ()
    assert (tuned.made_by, tuned.device) == ("cuBLAS", "sm_90")
    assert again.analysis == result.analysis


def test_a_result_without_its_pictures_is_made_anew(
    dump: Path, modules: KeptModules, made: list[str]
) -> None:
    for _ in range(2):
        modules.process(ModuleTask(first_module(dump), OPTIONS))
    assert len(made) == 2


def change_a_byte(dump: Path) -> None:
    path = dump / CHANGED
    written = path.read_bytes()
    path.write_bytes(written[:-2] + b" \n")


def touch(dump: Path) -> None:
    (dump / CHANGED).touch()


@pytest.mark.parametrize("change", [change_a_byte, touch])
def test_other_files_make_another_result(
    dump: Path, modules: KeptModules, made: list[str], change: Callable[[Path], None]
) -> None:
    finish(modules, modules.process(ModuleTask(first_module(dump), OPTIONS)))
    change(dump)
    modules.process(ModuleTask(first_module(dump), OPTIONS))
    assert len(made) == 2


def test_another_program_or_other_options_make_another_result(
    dump: Path, modules: KeptModules, made: list[str]
) -> None:
    files = first_module(dump)
    device = next(iter(devices().values()))
    finish(modules, modules.process(ModuleTask(files, OPTIONS)))
    replace(modules, program="upgraded").process(ModuleTask(files, OPTIONS))
    modules.process(ModuleTask(files, replace(OPTIONS, cost_options=CostOptions(device=device))))
    modules.process(ModuleTask(files, OPTIONS), "all")
    assert len(made) == 4


@pytest.mark.parametrize(
    "options",
    [
        AnalysisOptions(marker=re.compile("dot")),
        AnalysisOptions(cost_options=CostOptions(with_source=True)),
    ],
)
def test_what_more_than_the_files_decides_is_not_kept(
    dump: Path, modules: KeptModules, options: AnalysisOptions
) -> None:
    assert modules.process(ModuleTask(first_module(dump), options)).kept_as == ""
    assert not modules.store.folder.exists()


def test_files_that_change_meanwhile_are_not_kept(
    dump: Path, modules: KeptModules, monkeypatch: pytest.MonkeyPatch
) -> None:
    def process(task: ModuleTask, pictures: PictureChoice | None) -> ModuleResult:
        change_a_byte(dump)
        return process_module(task, pictures)

    monkeypatch.setattr(kept, "process_module", process)
    assert modules.process(ModuleTask(first_module(dump), OPTIONS)).kept_as == ""
    assert not modules.store.folder.exists()


def test_a_result_with_a_fault_is_not_kept(
    dump: Path, modules: KeptModules, monkeypatch: pytest.MonkeyPatch
) -> None:
    def process(task: ModuleTask, _: PictureChoice | None) -> ModuleResult:
        return ModuleResult(unreadable_module(task.files, "no memory"))

    monkeypatch.setattr(kept, "process_module", process)
    assert modules.process(ModuleTask(first_module(dump), OPTIONS)).kept_as == ""
    assert not modules.store.folder.exists()


def test_an_entry_of_another_form_is_not_taken(
    dump: Path, modules: KeptModules, made: list[str]
) -> None:
    files = first_module(dump)
    result = modules.process(ModuleTask(files, OPTIONS))
    finish(modules, result)
    for content in (b"[]", b"{", b"null", b'[["x"], [], 1]', b"[" * 100_000):
        modules.store.put(result.kept_as, content)
        assert modules.process(ModuleTask(files, OPTIONS)).analysis == result.analysis
        finish(modules, result)
    assert len(made) == 6
