"""What the instructions of a real GPU program became."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.code.code_files import CodeFile
from xlareport.analysis.code.instruction_products import (
    ModuleCode,
    join_code,
    launching_places,
    read_tuning,
)
from xlareport.analysis.code.module_code import code_file
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.text import TextReader
from xlareport.program import CodeNotes, read_code, read_module
from xlareport.readers.thunks import Thunk, ThunkNote

TEXT = """\
half {{
  p = f32[8] parameter(0)
  c = f32[] constant(2)
  b = f32[8] broadcast(c), dimensions={{}}
  ROOT d = f32[8] divide(p, b), metadata={{op_name="first"}}
}}

again {{
  q = f32[8] parameter(0)
  k = f32[] constant(2)
  e = f32[8] broadcast(k), dimensions={{}}
  ROOT f = f32[8] divide(q, e), metadata={{op_name="second"}}
}}

third {{
  q = f32[8] parameter(0)
  k = f32[] constant(3)
  e = f32[8] broadcast(k), dimensions={{}}
  ROOT f = f32[8] divide(q, e)
}}

ENTRY e {{
  x = f32[8] parameter(0)
  one = f32[8] fusion(x), kind=kLoop, calls=half
  two = f32[8] fusion(one), kind=kLoop, calls=again
  other = f32[8] fusion(two), kind=kLoop, calls=third
  ROOT dot = f32[8] fusion(other), kind=kCustom, calls=half{config}
}}"""
LIBRARY = ', backend_config={"fusion_config":{"kind":"__ynn_fusion"}}'


def final_of(folder: Path) -> HloModule:
    with open_source(folder) as source:
        modules = group(name_files(source)).modules
        final = read_module(next(module for module in modules if "module_0001" in module.key)).final
    assert final is not None
    return final.hlo


def code_of(folder: Path, name: str) -> ModuleCode:
    with open_source(folder) as source:
        files = next(one for one in group(name_files(source)).modules if name in one.key)
        texts, problems = read_code(files)
        module = read_module(files)
    assert not problems
    assert module.final is not None
    return join_code(module.final.hlo, [code_file(text) for text in texts], module.code)


def test_a_gpu_program(unpacked: Callable[[str], Path]) -> None:
    code = code_of(unpacked("gpu-h100x2-train"), "module_0001")
    assert not code.unlinked
    kernels = [unit for unit in code.units if unit.thunks and unit.files]
    assert len(kernels) >= 5
    for kernel in kernels:
        assert {link.file.kind for link in kernel.files} >= {"llvm-ir"}
        assert kernel.instruction is not None
        assert kernel.grade == "exact" or kernel.place[1] == "all-reduce-start"
    assert any(kernel.decisions for kernel in kernels)
    assert any(kernel.tuning for kernel in kernels)
    placed = [thunk for thunk in code.thunks if thunk.place]
    assert len(placed) >= 0.9 * len(code.thunks)
    first = [min(unit.thunks) for unit in code.units if unit.thunks]
    assert first == sorted(first)


@pytest.mark.parametrize("dump", ["tagged-gpu-conv", "tagged-gpu-experts", "tagged-gpu-scan"])
def test_every_instruction_that_launches_code_has_it_or_a_reason(
    unpacked: Callable[[str], Path], dump: str
) -> None:
    folder = unpacked(dump)
    code = code_of(folder, "module_0001.jit_train")
    units = {one.place: one for one in code.units}
    assert units.keys() >= set(launching_places(final_of(folder)))
    assert all(bool(one.files) != bool(one.missing) for one in code.units)
    launched = [one for one in code.thunks if one.thunk.kind == "kCustomKernel" and one.place]
    users = Counter(one.thunk.name for one in launched)
    assert max(users.values()) > 1
    for one in launched:
        assert one.place is not None
        unit = units[one.place.computation, one.place.instruction]
        assert unit.grade == "exact"
        assert {one.thunk.name} <= {kernel for link in unit.files for kernel in link.file.kernels}
    reasons = {one.missing for one in code.units if one.missing}
    assert all("It runs as k" in reason for reason in reasons)


def test_a_kernel_of_two_instructions_without_its_file() -> None:
    text = b"""HloModule m

inner {
  ROOT p = f32[4] parameter(0)
}

ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] fusion(a), kind=kLoop, calls=inner
  c = f32[4] fusion(b), kind=kLoop, calls=inner
  ROOT d = f32[4] custom-call(c), custom_call_target="t"
}
"""
    module = parse_module(text)
    thunks = tuple(
        Thunk(number, "kKernel", "b grid: []", None, None, "", 0, number) for number in (1, 2)
    )
    notes = (ThunkNote(1, "kKernel", "b"), ThunkNote(2, "kKernel", "c"))
    shared = CodeFile("m.ptx", "ptx", "", "", ("b",), 9)
    code = join_code(module, [shared], CodeNotes(thunks, notes))
    found = {unit.place[1]: (len(unit.files), unit.grade, unit.missing) for unit in code.units}
    nothing = "No file of code and no thunk has its name."
    assert found == {"b": (1, "exact", ""), "c": (1, "exact", ""), "d": (0, "guessed", nothing)}
    other = join_code(module, [replace(shared, kernels=("x",))], CodeNotes(thunks, notes))
    defines = "It launches the kernel b, which no file of code defines."
    assert [unit.missing for unit in other.units] == [defines, defines, nothing]


def test_a_library_call_without_a_thunk_says_so() -> None:
    """Older thunk sequences name no instruction of `kGemm`."""
    text = b"""HloModule m

ENTRY e {
  a = f32[4,4] parameter(0)
  ROOT b = f32[4,4] custom-call(a, a), custom_call_target="__cublas$gemm"
}
"""
    module = parse_module(text)
    (unit,) = join_code(module, [CodeFile("m.ptx", "ptx", "", "", ("x",), 9)], CodeNotes()).units
    assert unit.missing == "It calls a library (__cublas$gemm), whose code is in no dump."


def test_a_cpu_program_names_its_kernels_in_its_files(unpacked: Callable[[str], Path]) -> None:
    code = code_of(unpacked("jax-cpu-train-allformats"), "train_step")
    assert not code.unlinked
    assert code.links
    assert all(unit.instruction for unit in code.units)
    assert {unit.grade for unit in code.units if unit.files} == {"matched"}
    without = {unit.place[1] for unit in code.units if unit.missing}
    assert without == {"ynn_fusion", "ynn_fusion.1", "ynn_fusion.2"}  # a library runs them
    assert not code.thunks


def test_one_object_file_for_the_whole_program(unpacked: Callable[[str], Path]) -> None:
    code = code_of(unpacked("jax-0.4.13-cpu-train"), "train_step")
    assert not code.unlinked
    assert any(not unit.place[1] for unit in code.units)


@pytest.mark.parametrize("dump", ["gpu-h100-mixed-allpasses", "torch_xla-2.9-train-default"])
def test_every_file_of_a_large_dump(dumps: Path, dump: str) -> None:
    with open_source(dumps / dump / dump) as source:
        modules = group(name_files(source)).modules
        total = found = 0
        for files in modules:
            texts, _ = read_code(files)
            final = read_module(files).final if texts else None
            if final is not None:
                code = join_code(
                    final.hlo, [code_file(text) for text in texts], read_module(files).code
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
    parsed = read_tuning(instruction(json.dumps(config)))
    assert {name: json.loads(value) for name, value in parsed.items()} == {
        "triton_gemm_config": gemm
    }


def test_what_is_no_json_or_empty_says_nothing() -> None:
    assert read_tuning(instruction("{nonsense}")) == {}
    assert read_tuning(instruction('{"algorithm":{}}')) == {}


def told(module: HloModule, *kernels: str) -> dict[str, tuple[str, str]]:
    files = [CodeFile(f"{name}.o", "object", "", name, (name,), 1) for name in kernels]
    units = join_code(module, files, CodeNotes()).units
    return {unit.place[1]: (unit.grade, unit.missing or unit.reason) for unit in units}


def test_a_fusion_has_the_kernel_of_its_equal(read: Callable[[str], HloModule]) -> None:
    module = read(TEXT.format(config=LIBRARY))
    found = told(module, "one")
    assert found["one"] == ("matched", "The kernel has the instruction's name.")
    reason = "XLA compiles equal fusions once: it is equal to one."
    assert found["two"] == ("matched", reason)
    assert found["other"] == ("guessed", "No file of code and no thunk has its name.")
    assert found["dot"][1] == "It calls a library (YNNPACK), whose code is in no dump."


def test_where_several_equals_have_one_it_is_guessed(
    read: Callable[[str], HloModule],
) -> None:
    text = TEXT.format(config="").replace("constant(3)", "constant(2)")
    found = told(read(text), "one", "two")
    reason = "XLA compiles equal fusions once: it is equal to one and 1 more."
    assert found["other"] == ("guessed", reason)
    assert found["two"] == ("matched", "The kernel has the instruction's name.")


def test_computations_that_call_each_other_end(read: Callable[[str], HloModule]) -> None:
    loop = """\
a {
  p = f32[8] parameter(0)
  ROOT f = f32[8] fusion(p), kind=kLoop, calls=a
}

ENTRY e {
  x = f32[8] parameter(0)
  one = f32[8] fusion(x), kind=kLoop, calls=a
  ROOT two = f32[8] fusion(one), kind=kLoop, calls=a
}"""
    assert told(read(loop), "one")["two"][0] == "matched"
