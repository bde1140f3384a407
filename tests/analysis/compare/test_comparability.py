"""Whether figures can be held against each other: backends, stages, programs."""

from collections.abc import Callable
from pathlib import Path
from shutil import copy

import pytest
from tests.analysis.compare.conftest import compared

from xlareport.analysis.compare.comparability import Obstacle
from xlareport.analysis.compare.verdict import Direction
from xlareport.pages.compare.first_page import compare_page

Unpack = Callable[[str], Path]


def test_the_times_of_two_backends_are_not_compared(pairs: Path) -> None:
    view = compared(pairs / "cpu-conv-base", pairs / "gpu-attention-base")
    assert view.verdict.time.direction is Direction.UNKNOWN
    assert view.verdict.time.obstacle is Obstacle.BACKEND
    assert "faster" not in compare_page(view).lead
    assert view.causes[0].kind == "device"


def test_a_module_before_its_passes_is_not_compared_with_one_after(
    pairs: Path, tmp_path: Path
) -> None:
    for path in (pairs / "cpu-conv-base").glob("*before_optimizations.txt"):
        copy(path, tmp_path)
    view = compared(tmp_path, pairs / "cpu-conv-base")
    assert view.verdict.memory.obstacle is Obstacle.STAGE
    page = compare_page(view)
    assert page.lead.endswith("cannot be compared: one side has no optimized module.")
    assert not any(row.look for row in page.figures)


def test_drawings_are_not_compared_with_texts(unpacked: Unpack, tmp_path: Path) -> None:
    both = unpacked("jax-cpu-train-allformats")
    text, drawn = tmp_path / "text", tmp_path / "drawn"
    for folder, pattern in ((text, "*.txt"), (drawn, "*.dot")):
        folder.mkdir()
        for path in both.glob(pattern):
            copy(path, folder)
    view = compared(text, drawn)
    assert view.verdict.time.obstacle is Obstacle.DRAWING
    assert view.verdict.memory.obstacle is Obstacle.DRAWING
    kinds = {cause.kind for cause in view.causes}
    assert not kinds & {"donation", "sharding", "operations", "compiler", "pass", "program"}
    assert compare_page(view).lead.endswith(f"cannot be compared: {Obstacle.DRAWING}.")
    both_have = [module for module in view.modules if module.base and module.head]
    known = {figure.name for module in both_have for figure in module.figures if figure.head}
    assert {"fusions", "kernels"} <= known <= {"collectives", "fusions", "kernels"}
    assert not any(module.opcodes for module in both_have)


def test_two_programs_with_nothing_in_common_are_not_compared(
    pairs: Path, unpacked: Unpack
) -> None:
    view = compared(unpacked("pairs") / "base", pairs / "cpu-conv-base")
    assert view.verdict.time.obstacle is Obstacle.PROGRAM
    assert not view.verdict.matters


def test_two_versions_of_a_program_are_compared(pairs: Path) -> None:
    view = compared(pairs / "cpu-conv-base", pairs / "cpu-conv-layer")
    assert view.verdict.time.direction is Direction.MORE
    assert view.verdict.time.obstacle is Obstacle.NONE


def write_tpu_dump(folder: Path, version: str, space: str) -> Path:
    """Write a program of a TPU that keeps a value in a memory space."""
    folder.mkdir()
    layout = "{1,0:T(8,128)" + space + "}"
    text = (
        "HloModule jit_f, is_scheduled=true\n\nENTRY main {\n"
        "  x = f32[1024,1024]{1,0:T(8,128)} parameter(0)\n"
        f"  y = f32[1024,1024]{layout} negate(x)\n"
        f"  z = f32[1024,1024]{layout} multiply(y, y)\n"
        "  ROOT r = f32[1024,1024]{1,0:T(8,128)} add(z, y)\n}\n"
    )
    for stage in ("before_optimizations", "after_optimizations"):
        (folder / f"module_0000.jit_f.cl_1.{stage}.txt").write_text(text)
    words = f"version: TPU_VERSION_{version}\n"
    (folder / "module_0000.jit_f.cl_1.target_arguments.txt").write_text(words)
    return folder


@pytest.mark.parametrize(
    ("space", "obstacle"), [("S(3)", Obstacle.CHIPS), ("", Obstacle.NONE)], ids=["cmem", "hbm"]
)
def test_times_of_two_tpus_are_not_compared_where_one_keeps_values_on_the_chip(
    space: str, obstacle: Obstacle, tmp_path: Path
) -> None:
    base = write_tpu_dump(tmp_path / "base", "PUFFERFISH", space)
    head = write_tpu_dump(tmp_path / "head", "GHOSTLITE", "")
    view = compared(base, head)
    assert view.verdict.time.obstacle is obstacle
