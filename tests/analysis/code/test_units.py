"""What the instructions of a real GPU program became."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.code.module import code_file
from xlareport.analysis.code.units import ModuleCode, join_code, read_tuning
from xlareport.dump.modules import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.model import Instruction
from xlareport.hlo.text import TextReader
from xlareport.program import read_code, read_module


def code_of(folder: Path, name: str) -> ModuleCode:
    with open_source(folder) as source:
        files = next(one for one in group(name_files(source)).modules if name in one.key)
        texts, problems = read_code(files)
        module = read_module(files)
    assert not problems
    assert module.final is not None
    return join_code(module.final.hlo, [code_file(one) for one in texts], module.code)


def test_a_gpu_program(unpacked: Callable[[str], Path]) -> None:
    code = code_of(unpacked("gpu-h100x2-train"), "module_0001")
    assert not code.unlinked
    kernels = [one for one in code.units if one.thunks and one.files]
    assert len(kernels) >= 5
    for one in kernels:
        assert {link.file.kind for link in one.files} >= {"llvm-ir"}
        assert one.instruction is not None
        assert one.grade == "exact" or one.place[1] == "all-reduce-start"
    assert any(one.decisions for one in kernels)
    assert any(one.tuning for one in kernels)
    placed = [one for one in code.thunks if one.place]
    assert len(placed) >= 0.9 * len(code.thunks)
    first = [min(one.thunks) for one in code.units if one.thunks]
    assert first == sorted(first)


def test_a_cpu_program_names_its_kernels_in_its_files(unpacked: Callable[[str], Path]) -> None:
    code = code_of(unpacked("jax-cpu-train-allformats"), "train_step")
    assert not code.unlinked
    assert code.links
    assert all(one.instruction for one in code.units)
    assert {one.grade for one in code.units} == {"matched"}
    assert not code.thunks


def test_one_object_file_for_the_whole_program(unpacked: Callable[[str], Path]) -> None:
    code = code_of(unpacked("jax-0.4.13-cpu-train"), "train_step")
    assert not code.unlinked
    assert any(not one.place[1] for one in code.units)


@pytest.mark.parametrize(
    "dump", ["gpu-h100-mixed-allpasses", "conv", "torch_xla-2.9-train-default"]
)
def test_every_file_of_a_large_dump(dumps: Path, dump: str) -> None:
    with open_source(dumps / dump / dump) as source:
        modules = group(name_files(source)).modules
        total = found = 0
        for files in modules:
            texts, _ = read_code(files)
            final = read_module(files).final if texts else None
            if final is not None:
                code = join_code(
                    final.hlo, [code_file(one) for one in texts], read_module(files).code
                )
                total += len(code.links)
                found += len(code.links) - len(code.unlinked)
    assert found >= 0.98 * total > 0


def instruction(config: str) -> Instruction:
    text = f"HloModule m\n\nENTRY e {{\n  ROOT a = f32[] constant(1), backend_config={config}\n}}\n"
    module = TextReader().read(text.encode(), "m.txt")
    assert module is not None
    assert module.entry is not None
    return module.entry.instructions[0]


def test_choices_are_found_at_any_depth_and_the_rest_is_left() -> None:
    gemm = {"block_m": "64", "num_warps": "4"}
    config = {"fusion_backend_config": {"kind": "__triton_gemm", "triton_gemm_config": gemm}}
    found = read_tuning(instruction(json.dumps(config)))
    assert {name: json.loads(value) for name, value in found.items()} == {
        "triton_gemm_config": gemm
    }


def test_what_is_no_json_or_empty_says_nothing() -> None:
    assert read_tuning(instruction("{nonsense}")) == {}
    assert read_tuning(instruction('{"algorithm":{}}')) == {}
