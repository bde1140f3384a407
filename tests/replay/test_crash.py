"""Programs that XLA refuses, shrunk; the runs are skipped without an interpreter that has jax."""

import json
import subprocess
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.modules import parse_module
from tests.replay.programs import entry

from xlareport.program import ParsedModule
from xlareport.replay.child_process import Child
from xlareport.replay.crash import failure_kind, minimize_crash, minimized
from xlareport.replay.reproducer import write_crash
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]


@pytest.fixture(scope="session")
def module(unpacked: Unpack) -> ParsedModule:
    """Return a module of one snapshot of 203 instructions, which XLA refuses."""
    real = read_one_module(unpacked("jax-cpu-train"), None, BuildOptions(jobs=1))
    lines = ["%a = f32[8] parameter(0)", "%x0 = f32[8] tanh(%a)"]
    for number in range(100):
        lines.append(f"%d{number} = f32[8] subtract(%x{number}, %a)")
        lines.append(f"%x{number + 1} = f32[8] tanh(%d{number})")
    lines[101] = "%x50 = f32[8] frobnicate(%d49)"
    lines[-1] = f"ROOT {lines[-1]}"
    first = real.snapshots[0]
    return replace(real, snapshots=(replace(first, hlo=parse_module(entry("\n".join(lines)))),))


def test_failures_are_of_one_kind_whatever_the_names() -> None:
    first = failure_kind("Check failed: a.12 == f32[3] at %add.7\nmore")
    assert first == failure_kind("Check failed: a.1 == f32[40] at %add.99\nother")
    assert first != failure_kind("Another: a.12")


def test_a_program_that_is_refused_shrinks(
    child: Child, module: ParsedModule, jax_python: str, tmp_path: Path
) -> None:
    stage = module.snapshots[0].stage.key
    crash = minimize_crash(module, stage, child, 0)
    assert crash is not None
    assert crash.instructions == 202
    assert crash.program.line_count <= 4
    write_crash(crash, tmp_path / "bug")
    done = subprocess.run(
        [jax_python, str(tmp_path / "bug/run.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "frobnicate" in done.stderr
    assert "frobnicate" in json.loads((tmp_path / "bug/expected.json").read_text())["crash"]


def test_one_that_runs_is_no_crash(child: Child, unpacked: Unpack) -> None:
    clean = read_one_module(unpacked("jax-cpu-train"), None, BuildOptions(jobs=1))
    assert minimize_crash(clean, clean.snapshots[0].stage.key, child, 0) is None


@pytest.mark.parametrize(
    ("size", "needed"),
    [(1, {0}), (1000, {637}), (1000, {0, 999}), (64, {3, 17, 40, 41}), (7, set(range(7)))],
)
def test_what_the_fault_needs_stays(size: int, needed: set[int]) -> None:
    kept = minimized(range(size), lambda some: needed <= set(some), 10_000)
    assert set(kept) == needed


def test_a_fault_that_needs_two_neighbors_to_be_together() -> None:
    def fails(some: Sequence[int]) -> bool:
        return any(left + 1 == right for left, right in pairwise(some))

    assert len(minimized(range(50), fails, 10_000)) == 2


def test_the_number_of_tests_is_bounded() -> None:
    tests = 0

    def fails(some: Sequence[int]) -> bool:
        nonlocal tests
        tests += 1
        return {1, 500, 900} <= set(some)

    kept = minimized(range(1000), fails, 5)
    assert tests <= 5
    assert {1, 500, 900} <= set(kept)


def test_a_single_fault_of_many_takes_few_tests() -> None:
    tests = 0

    def fails(some: Sequence[int]) -> bool:
        nonlocal tests
        tests += 1
        return 637 in some

    minimized(range(1024), fails, 1000)
    assert tests <= 40
