"""Machine-level files that are cut off, empty or missing cost a program, and never a traceback."""

import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

import xlareport.api
from xlareport.analysis.tpu.compared_programs import tpu_figures
from xlareport.analysis.tpu.program_record import TpuProgram
from xlareport.runtime.errors import Problem

NAME = "product.1"


@pytest.fixture
def dump(tmp_path: Path, unpacked: Callable[[str], Path]) -> Path:
    folder = tmp_path / "dump"
    shutil.copytree(unpacked("tpu-v5e-machine"), folder)
    return folder


def program(dump: Path) -> tuple[TpuProgram, tuple[Problem, ...]]:
    with xlareport.api.read(dump) as report:
        (module,) = (module for module in report.modules if "layers" in module.name)
        (result,) = (
            tpu_program for tpu_program in module.tpu_programs if tpu_program.program == NAME
        )
        return result, module.problems


def files(dump: Path, label: str) -> Iterator[Path]:
    return dump.glob(f"*-{NAME}-*-{label}*")


@pytest.mark.parametrize(
    "label", ["packed-bundles-post-ra", "final_bundles", "pre-delay", "final_hlo"]
)
def test_a_file_that_is_cut_off(dump: Path, label: str) -> None:
    for path in files(dump, label):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    result, problems = program(dump)
    assert result.is_partial
    assert problems
    assert (result.dynamic_cycles is None) == (label == "packed-bundles-post-ra")
    if label == "pre-delay":
        assert {unit.share for unit in result.units.values()} == {None}
        assert result.bottleneck == ""


def test_a_program_without_tables_and_listings(dump: Path) -> None:
    for path in (*files(dump, "packed"), *files(dump, "final"), *files(dump, "pre-delay")):
        path.unlink()
    result, problems = program(dump)
    assert problems == ()
    assert (result.code_bundles, result.static_cycles, result.dynamic_cycles) == (101, None, None)
    assert "Not known" in result.dynamic_reason
    assert result.units == {}


def test_a_program_that_no_instruction_has(dump: Path) -> None:
    for path in files(dump, ""):
        path.rename(path.with_name(path.name.replace(NAME, "stranger.7")))
    with xlareport.api.read(dump) as report:
        (module,) = (module for module in report.modules if "layers" in module.name)
        (result,) = (
            tpu_program
            for tpu_program in module.tpu_programs
            if tpu_program.program == "stranger.7"
        )
        messages = [problem.message for problem in module.problems]
    assert result.instruction is None
    assert messages == [
        "No HLO instruction of the module is called stranger.7.",
        "It calls 1 programs without files: product.1.",
    ]


def test_broken_bytes_anywhere(dump: Path) -> None:
    generator = random.Random(7)  # noqa: S311 - only which bytes are broken
    for path in sorted(dump.glob("*-[0-9][0-9]-*")):
        data = bytearray(path.read_bytes())
        for _ in range(5):
            data[generator.randrange(len(data))] = generator.randrange(256)
        path.write_bytes(data)
    with xlareport.api.read(dump) as report:
        for module in report.modules:
            for tpu_program in module.tpu_programs:
                for unit in tpu_program.units.values():
                    assert unit.share is None or 0 <= unit.share <= 1


def test_two_instructions_share_a_program(dump: Path) -> None:
    (shared,) = (
        path
        for path in dump.glob("*-TLP-*-deduplication-map.txt")
        if f"key:{NAME}" in path.read_text()
    )
    shared.write_text(f"key:{NAME}\nordinal:1\nequivalent_hlos[size=2]:\n  {NAME}\n  fusion.27\n")
    for path in dump.glob("*-fusion.27-*"):
        path.unlink()
    with xlareport.api.read(dump) as report:
        (module,) = (module for module in report.modules if "layers" in module.name)
        assert module.problems == ()
        assert module.tpu is not None
        static = [(each.static_cycles or 0) * len(each.calls) for each in own(module.tpu_programs)]
        assert module.tpu.called_cycles == module.tpu.attributed_cycles == sum(static)
    result, _ = program(dump)
    assert result.instructions == (NAME, "fusion.27")
    assert sorted(result.calls) == ["fusion.27", NAME]
    assert result.runs == 2
    cycles = sum((each.dynamic_cycles or 0) * (each.runs or 0) for each in own(module.tpu_programs))
    assert dict(tpu_figures(module.tpu_programs))["tpu_cycles"] == cycles


def own(programs: Iterable[TpuProgram]) -> list[TpuProgram]:
    return [each for each in programs if each.instruction]


def test_modules_of_one_name_are_matched(dump: Path) -> None:
    with xlareport.api.read(dump) as report:
        assert {module.tpu.grade for module in report.modules if module.tpu} == {"exact"}
    rename_modules(dump)
    with xlareport.api.read(dump) as report:
        assert [module.tpu is not None for module in report.modules] == [True, True]
        assert {module.tpu.grade for module in report.modules if module.tpu} == {"matched"}
        assert all("order" in module.tpu.grade_reason for module in report.modules if module.tpu)


def rename_modules(dump: Path) -> None:
    """Give the second module the name of the first."""
    for path in sorted(dump.rglob("*"), reverse=True):  # files before their folder
        if path.is_file() and path.suffix == ".txt":
            path.write_bytes(path.read_bytes().replace(b"jit_train", b"jit_layers"))
        path.rename(path.with_name(path.name.replace("jit_train", "jit_layers")))
