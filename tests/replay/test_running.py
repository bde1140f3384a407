"""Programs that run in the child process; skipped without an interpreter that has jax."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from tests.modules import parse_module
from tests.replay.programs import entry, program

from xlareport.cli.replay import command
from xlareport.program import ParsedModule
from xlareport.replay.bisect import Runner, bisect, make_inputs
from xlareport.replay.child_process import Bounds, Child, RunError
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]
SUM = "%a = f32[3] parameter(0)\n%b = f32[3] parameter(1)\nROOT %c = f32[3] add(%a, %b)"
ENDLESS = """%body (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %one = s32[] constant(1)
  ROOT %a = s32[] and(%p, %one)
}
%cond (p: s32[]) -> pred[] {
  %p = s32[] parameter(0)
  %zero = s32[] constant(0)
  ROOT %c = pred[] compare(%p, %zero), direction=GE
}"""


def run(child: Child, lines: str, before: str = "") -> Path:
    text = program(entry(lines, before))
    inputs = make_inputs(child, text, seed=0)
    return Runner(child, inputs.path).run(text)[0]


def test_a_bitcast_that_was_written_out_is_what_xla_computes(child: Child) -> None:
    lines = "%a = f32[2,3]{0,1} parameter(0)\nROOT %b = f32[6]{0} bitcast(%a)"
    logical = """%a = f32[2,3] parameter(0)
    %t = f32[3,2] transpose(%a), dimensions={1,0}
    ROOT %b = f32[6] reshape(%t)"""
    other = "%a = f32[2,3] parameter(0)\nROOT %b = f32[6] reshape(%a)"
    inputs = make_inputs(child, program(entry(lines)), seed=0)
    runner = Runner(child, inputs.path)
    first, second, third = (runner.run(program(entry(each)))[0] for each in (lines, logical, other))
    assert runner.compare(first, second).max_relative_error == 0
    assert runner.compare(first, third).max_relative_error != 0


def test_inputs_are_those_of_the_seed(child: Child) -> None:
    text = program(entry(SUM))
    results = [Runner(child, make_inputs(child, text, seed).path) for seed in (1, 1, 2)]
    first, again, other = (runner.run(text)[0].read_bytes() for runner in results)
    assert first == again
    assert first != other


def test_a_program_that_does_not_end_is_ended(jax_python: str, tmp_path: Path) -> None:
    lines = "%a = s32[] parameter(0)\nROOT %w = s32[] while(%a), condition=%cond, body=%body"
    with Child(jax_python, tmp_path, Bounds(seconds=10)) as child:
        with pytest.raises(RunError, match="more than 10 s"):
            run(child, lines, ENDLESS)
        assert run(child, SUM).exists()


def test_one_that_takes_too_much_memory_costs_a_message(jax_python: str, tmp_path: Path) -> None:
    lines = """%a = f32[] parameter(0)
    ROOT %b = f32[40000,40000] broadcast(%a), dimensions={}"""
    with Child(jax_python, tmp_path, Bounds(seconds=60, memory_bytes=4_000_000_000)) as child:
        with pytest.raises(RunError):
            run(child, lines)
        assert run(child, SUM).exists()


def test_what_xla_refuses_is_its_message(child: Child) -> None:
    with pytest.raises(RunError, match="parse"):
        run(child, "%a = f32[] parameter(0)\nROOT %b = f32[] frobnicate(%a)")


def test_a_child_that_is_killed_is_started_anew(child: Child) -> None:
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(RunError, match="ended by SIGKILL"):
        child.ask("describe", path="")
    assert run(child, SUM).exists()


def planted(module: ParsedModule, stage: str, before: str, after: str) -> ParsedModule:
    """Change the texts of a module from a stage on."""
    places = [snapshot.stage.key for snapshot in module.snapshots]
    start = places.index(stage)
    snapshots = list(module.snapshots)
    for place in range(start, len(snapshots)):
        file = next(
            artifact
            for artifact in snapshots[place].stage.artifacts
            if artifact.path.endswith(".txt")
        )
        text = file.entry.read().decode()
        assert place > start or before in text
        snapshots[place] = replace(snapshots[place], hlo=parse_module(text.replace(before, after)))
    return replace(module, snapshots=tuple(snapshots))


def test_a_clean_dump_gives_no_alarm(child: Child, unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), None, BuildOptions(jobs=1))
    result = bisect(module, child)
    assert [run.reason for run in result.runs if not run.ran] == []
    assert result.first is None


def test_a_planted_fault_is_named_where_it_was_planted(child: Child, unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), None, BuildOptions(jobs=1))
    stages = [snapshot.stage.key for snapshot in module.snapshots]
    stage = stages[len(stages) // 2]
    result = bisect(planted(module, stage, " subtract(", " add("), child)
    assert result.first is not None
    assert result.first.stage == stage
    assert result.first.confirmed


def test_a_partitioned_program_runs_on_several_devices(child: Child, unpacked: Unpack) -> None:
    module = read_one_module(unpacked("sharded-cpu"), "jit_turned", BuildOptions(jobs=1))
    result = bisect(module, child)
    assert [run.reason for run in result.runs if not run.ran] == []
    assert result.first is None


def test_a_group_of_a_collective_that_is_wrong_is_named(child: Child, unpacked: Unpack) -> None:
    module = read_one_module(unpacked("sharded-cpu"), "jit_blurred", BuildOptions(jobs=1))
    stage = next(
        snapshot.stage.key
        for snapshot in module.snapshots
        if snapshot.stage.after == "spmd-partitioning"
    )
    edited = planted(module, stage, "{{0,1},{1,2},", "{{0,2},{1,1},")
    result = bisect(edited, child)
    assert result.first is not None
    assert result.first.stage == stage


def test_the_command_prints_a_document(jax_python: str, unpacked: Unpack) -> None:
    dump = str(unpacked("jax-cpu-train"))
    result = CliRunner().invoke(command, [dump, "--bisect", "--json", "--python", jax_python])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["first"] is None
    assert document["stages"][0].keys() == {
        "stage", "ran", "reason", "max_relative_error", "max_ulp"
    }  # fmt: skip
    assert "does not clear any pass" in document["verdict"]


def test_one_snapshot_is_described(jax_python: str, unpacked: Unpack, tmp_path: Path) -> None:
    dump, outputs = str(unpacked("jax-cpu-train")), tmp_path / "outputs.npz"
    arguments = [dump, "--python", jax_python, "--outputs", str(outputs)]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert "output 0: float32" in result.stdout
    assert outputs.exists()
