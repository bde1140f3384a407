"""Pallas kernels of a real TPU program, and the custom calls that they were compiled for."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from xlareport.analysis.code.code_files import CodeLink
from xlareport.analysis.code.module_code import link_mosaic, read_code_files, summarize_code
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.program import CodeText, read_module, read_nameless


def pallas(folder: Path) -> tuple[tuple[CodeText, ...], HloModule]:
    with open_source(folder) as source:
        (files,) = group(name_files(source)).modules
        texts, problems = read_nameless(files)
        final = read_module(files).final
    assert not problems
    assert final is not None
    assert files.is_alone
    return texts, final.hlo


def shapes(links: list[CodeLink], module: HloModule) -> dict[str, set[str]]:
    """Return the shapes of the calls by the moment at which the compilation of a kernel began."""
    found: dict[str, set[str]] = {}
    for link in links:
        for place in link.places:
            call = module.by_name[place.computation].by_name[place.instruction]
            found.setdefault(link.file.path[:19], set()).add(call.shape.text.partition("{")[0])
    return found


def test_each_file_finds_the_call_of_its_grid(unpacked: Callable[[str], Path]) -> None:
    texts, module = pallas(unpacked("tpu-v5e-kernels"))
    links = list(link_mosaic(texts, module, alone=True))
    assert len(links) == len(texts) == 50
    assert {place.grade for link in links for place in link.places} == {"matched"}
    found = shapes(links, module)
    assert all(len(shape) == 1 for shape in found.values())
    assert set().union(*found.values()) == {"f32[16,256]", "f32[64,256]"}


def test_beside_another_module_it_is_a_guess(unpacked: Callable[[str], Path]) -> None:
    texts, module = pallas(unpacked("tpu-v5e-kernels"))
    links = list(link_mosaic(texts, module, alone=False))
    assert {place.grade for link in links for place in link.places} == {"guessed"}


def test_kernels_of_another_name_are_not_its_own(unpacked: Callable[[str], Path]) -> None:
    texts, module = pallas(unpacked("tpu-v5e-kernels"))
    others = [
        replace(text, content=(text.content or b"").replace(b"@scaled_sum", b"@b"))
        for text in texts
    ]
    assert not list(link_mosaic(others, module, alone=True))


HLO = """HloModule jit_f, is_scheduled=true

ENTRY e {
  a = f32[4] parameter(0)
  ROOT my_matmul.2 = f32[4] custom-call(a), custom_call_target="t"
}
"""


def llo_places(folder: Path) -> dict[str, tuple[str, str] | None]:
    """Return the instruction and the grade of each program of `jit_f`."""
    with open_source(folder) as source:
        found = group(name_files(source)).modules
        files = next(module for module in found if module.name.startswith("jit_f"))
        code = read_code_files(read_module(files)).code
    assert code is not None
    return {
        link.file.part: next(((place.instruction, place.grade) for place in link.places), None)
        for link in code.links
    }


def test_a_program_of_the_low_level_compiler_is_linked_by_its_name(tmp_path: Path) -> None:
    time = "1795343449922002834"
    prefix = "module_0000.jit_f.cl_1004524046"
    (tmp_path / f"{prefix}.after_optimizations.txt").write_text(HLO)
    (tmp_path / f"{time}-TLP-hlo.txt").write_text(HLO)
    for program in ("my_matmul.2", "copy.clone", "<late-finalization>"):
        (tmp_path / f"{time}-{program}-71-final_bundles.txt").write_text("0 : { }")
    whole = ("", "matched")
    expected = {"TLP": whole, "<late-finalization>": whole, "copy.clone": None}
    assert llo_places(tmp_path) == {**expected, "my_matmul.2": ("my_matmul.2", "exact")}
    (tmp_path / "module_0001.jit_g.after_optimizations.txt").write_text(HLO.replace("_f", "_g"))
    assert llo_places(tmp_path)["my_matmul.2"] == ("my_matmul.2", "matched")


def test_results_of_the_autotuner_are_no_code(unpacked: Callable[[str], Path]) -> None:
    with open_source(unpacked("gpu-kernels")) as source:
        modules = [read_module(files) for files in group(name_files(source)).modules]
        codes = [code for module in modules if (code := read_code_files(module).code)]
    tuned = [code for code in codes if any(link.file.kind == "autotune" for link in code.links)]
    assert tuned
    for code in tuned:
        kinds = [link.file.kind for link in code.links]
        assert summarize_code(code).files == len(kinds) - kinds.count("autotune")
