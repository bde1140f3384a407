"""Folders that show a fault with jax alone; skipped without an interpreter that has jax."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from tests.modules import parse_module
from tests.replay.programs import entry

from xlareport.cli.extract import command
from xlareport.program import ParsedModule
from xlareport.replay.child_process import Child, ReplayError
from xlareport.replay.reproducer import reproduce, write_reproducer
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]
CHAIN = 500


def chain(swapped: int) -> str:
    """Return a program of 1,002 instructions; one subtraction has its operands swapped."""
    lines = ["%a = f32[8] parameter(0)", "%x0 = f32[8] tanh(%a)"]
    for number in range(CHAIN):
        pair = f"%x{number}, %a" if number != swapped else f"%a, %x{number}"
        lines.append(f"%d{number} = f32[8] subtract({pair})")
        lines.append(f"%x{number + 1} = f32[8] tanh(%d{number})")
    lines[-1] = f"ROOT {lines[-1]}"
    return entry("\n".join(lines))


@pytest.fixture(scope="session")
def module(unpacked: Unpack) -> ParsedModule:
    """Return a module of two snapshots, the second of which has a fault."""
    real = read_one_module(unpacked("jax-cpu-train"), None, BuildOptions(jobs=1))
    first, second = real.snapshots[:2]
    pair = (
        replace(first, hlo=parse_module(chain(-1))),
        replace(second, hlo=parse_module(chain(CHAIN - 3))),
    )
    return replace(real, snapshots=pair)


def test_a_fault_among_a_thousand_instructions_shrinks_to_a_few(
    child: Child, module: ParsedModule, jax_python: str, tmp_path: Path
) -> None:
    stage = module.snapshots[1].stage.key
    result = reproduce(module, stage, child, 0, minimize=True)
    assert result.instructions == (2 * CHAIN + 2, 2 * CHAIN + 2)
    assert max(result.line_counts) <= 10
    write_reproducer(result, tmp_path / "bug")
    output = subprocess.run(
        [jax_python, str(tmp_path / "bug/run.py")], capture_output=True, text=True, check=True
    ).stdout
    shown = float(output.split("relative error ")[1].split()[0])
    expected = json.loads((tmp_path / "bug/expected.json").read_text())
    assert shown == pytest.approx(expected["max_relative_error"], rel=0.01)
    assert shown > expected["tolerance"]


def test_where_nothing_differs_there_is_nothing_to_minimize(child: Child, unpacked: Unpack) -> None:
    clean = read_one_module(unpacked("jax-cpu-train"), None, BuildOptions(jobs=1))
    stage = clean.snapshots[1].stage.key
    with pytest.raises(ReplayError, match="nothing to minimize"):
        reproduce(clean, stage, child, 0, minimize=True)
    assert reproduce(clean, stage, child, 0, minimize=False).difference.max_relative_error == 0


def test_the_command_says_that_no_step_differs(
    jax_python: str, unpacked: Unpack, tmp_path: Path
) -> None:
    dump = str(unpacked("jax-cpu-train"))
    arguments = [dump, "--runnable", "--out", str(tmp_path / "bug"), "--python", jax_python]
    result = CliRunner().invoke(command, arguments)
    assert isinstance(result.exception, ReplayError)
    assert "Name one with --stage" in str(result.exception)
    assert not (tmp_path / "bug").exists()


def test_a_dropped_rounding_shrinks_to_five_lines(
    jax_python: str, unpacked: Unpack, tmp_path: Path
) -> None:
    """The story of the guide: the GPU compiler drops a rounding to bf16."""
    dump, out = str(unpacked("gpu-split")), tmp_path / "bug"
    arguments = [dump, "--module", "jit_split_product", "--runnable", "--minimize", "--out", out]
    result = CliRunner().invoke(command, [*map(str, arguments), "--python", jax_python])
    assert result.exit_code == 0, result.output
    assert "after simplify-fp-conversions" in result.stdout
    before, after = ((out / f"{name}.hlo").read_text() for name in ("before", "after"))
    assert before.count(" = ") == 5
    assert after.count(" = ") == 3
    assert "bf16" in before
    assert "bf16" not in after


def test_the_command_writes_a_named_step(jax_python: str, unpacked: Unpack, tmp_path: Path) -> None:
    dump, out = str(unpacked("jax-cpu-train")), tmp_path / "bug"
    arguments = [dump, "--runnable", "--stage", "after_optimizations", "--out", str(out)]
    result = CliRunner().invoke(command, [*arguments, "--python", jax_python])
    assert result.exit_code == 0, result.output
    names = {path.name for path in out.iterdir()}
    assert names == {"before.hlo", "after.hlo", "inputs.npz", "run.py", "expected.json"}
