"""The search for the step that changed the numbers, with a child that only pretends to run."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.replay.programs import entry, program

from xlareport.dump.grouping import group_source
from xlareport.dump.source import open_source
from xlareport.program import ParsedModule, read_module
from xlareport.replay.bisect import (
    AS_USUAL,
    QUIET,
    Runner,
    bisect,
    make_inputs,
    program_of,
    widened,
)
from xlareport.replay.child_process import Bounds, Child, ReplayError, RunError
from xlareport.replay.first_difference import OutputDifference
from xlareport.replay.runnable_program import NotRunnableError, RunnableProgram

HLO = """HloModule jit_f

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  ROOT %r = f32[4]{0} OPCODE(%a)
}
"""
STAGES = (
    "before_optimizations",
    "0001.fusion.after_dce.before_cse",
    "0002.fusion.after_cse.before_end",
    "cpu_after_optimizations",
)
ERRORS = {"tanh": 0.0, "sine": 1e-7, "cosine": 0.5}
"""How far a program with an opcode is from the first."""


class PretendedChild(Child):
    """Answers as the child would, by the opcodes in the texts that it is given."""

    def __init__(self, folder: Path, broken: str = "", held: object = None) -> None:
        super().__init__("python", folder, Bounds())
        self.broken, self.held = broken, held
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.starts = 0
        self.release = "0.9"
        self.devices = 0

    def use_devices(self, count: int) -> None:
        self.devices = count

    def restart(self) -> None:
        self.starts += 1

    def ask(self, operation: str, **what: Any) -> Any:
        self.asked.append((operation, what))
        match operation:
            case "run":
                return self._run(what)
            case "compare":
                return {"outputs": [self._compared(what)]}
            case "describe":
                return {"arrays": self.held}
        return {}

    def _run(self, what: dict[str, Any]) -> dict[str, Any]:
        text = Path(what["text"]).read_text()
        if self.broken and self.broken in text:
            raise RunError("it crashed")
        opcode = next((opcode for opcode in ERRORS if f" {opcode}(" in text), "tanh")
        Path(what["outputs"]).write_text(opcode)
        return {"outputs": [{"informative": True, "copies": 1}]}

    def _compared(self, what: dict[str, Any]) -> dict[str, Any]:
        expected, actual = (Path(what[side]).read_text() for side in ("expected", "actual"))
        return {"error": abs(ERRORS[actual] - ERRORS[expected]), "ulp": None}


def module(folder: Path, *opcodes: str) -> ParsedModule:
    folder.mkdir()
    for stage, opcode in zip(STAGES, opcodes, strict=True):
        text = HLO.replace("OPCODE", opcode)
        (folder / f"module_0000.jit_f.{stage}.txt").write_text(text)
    with open_source(folder) as source:
        (files,) = group_source(source).grouped.modules
        return read_module(files)


def test_the_first_step_beyond_the_tolerance_is_named(tmp_path: Path) -> None:
    child = PretendedChild(tmp_path)
    result = bisect(module(tmp_path / "dump", "tanh", "sine", "cosine", "cosine"), child)
    assert result.first is not None
    assert (result.first.stage, result.first.confirmed) == ("0002", True)
    assert "cse" in result.first.after
    assert result.first.difference == OutputDifference(0.5, None)
    assert result.first.as_usual == OutputDifference(0.5 - 1e-7, None)
    assert result.rounding == "0001"
    assert [run.ran for run in result.runs] == [True] * 4
    assert (result.outputs, result.uninformative, result.disagreeing) == (1, 0, 0)
    assert (child.starts, child.devices) == (2, 1)
    options = [what["options"] for task, what in child.asked if task == "run"]
    assert options[0] == dict(QUIET)
    assert options[-1] == dict(AS_USUAL)


def test_rounding_is_no_step(tmp_path: Path) -> None:
    result = bisect(module(tmp_path / "dump", *["tanh", "sine"] * 2), PretendedChild(tmp_path))
    assert (result.first, result.rounding) == (None, "0001")
    assert result.tolerance.limit > 1e-7


def test_a_snapshot_that_does_not_run_has_its_reason_and_is_passed_over(tmp_path: Path) -> None:
    child = PretendedChild(tmp_path, broken=" sine(")
    result = bisect(module(tmp_path / "dump", "tanh", "sine", "cosine", "cosine"), child)
    assert [(run.ran, run.reason) for run in result.runs][:2] == [(True, ""), (False, "it crashed")]
    assert result.first is not None
    assert result.first.stage == "0002"
    assert "dce" in result.first.after


def test_a_module_without_a_program_that_runs_is_refused(tmp_path: Path) -> None:
    asked = module(tmp_path / "dump", *["infeed"] * 4)
    with pytest.raises(ReplayError, match="No snapshot of module_0000"):
        bisect(asked, PretendedChild(tmp_path))


def test_equal_programs_run_once(tmp_path: Path) -> None:
    child = PretendedChild(tmp_path)
    bisect(module(tmp_path / "dump", *["tanh"] * 4), child)
    assert [what["wide"] for task, what in child.asked if task == "run"] == [False, True]


def test_what_was_recorded_is_compared_with_the_first_run(tmp_path: Path) -> None:
    recorded = tmp_path / "recorded"
    recorded.write_text("cosine")
    asked = module(tmp_path / "dump", *["tanh"] * 4)
    result = bisect(asked, PretendedChild(tmp_path), results=recorded)
    assert result.recorded == OutputDifference(0.5, None)
    assert bisect(asked, PretendedChild(tmp_path)).recorded is None


def test_inputs_of_the_user_have_to_fit(tmp_path: Path) -> None:
    first = program(HLO.replace("OPCODE", "tanh"))
    given = tmp_path / "inputs.npz"
    inputs = make_inputs(PretendedChild(tmp_path, held=[["float32", [4]]]), first, 0, given)
    assert (inputs.path, inputs.ranges) == (given.resolve(), ())
    with pytest.raises(ReplayError, match="does not hold the inputs of the program"):
        make_inputs(PretendedChild(tmp_path, held=[["float32", [5]]]), first, 0, given)


def test_a_run_that_failed_fails_again_without_running(tmp_path: Path) -> None:
    child = PretendedChild(tmp_path, broken="tanh")
    runner = Runner(child, tmp_path / "inputs.npz")
    for _ in range(2):
        with pytest.raises(RunError, match="it crashed"):
            runner.run(program(HLO.replace("OPCODE", "tanh")))
    assert len(child.asked) == 1


def test_all_floats_are_widened_but_not_where_bits_count() -> None:
    wide = widened(program(HLO.replace("OPCODE", "tanh")))
    assert wide is not None
    assert {line.shape.element_type for body in wide.bodies for line in body.lines} == {"f64"}
    bits = "%a = f32[] parameter(0)\n%b = s32[] bitcast-convert(%a)\nROOT %c = f32[] convert(%b)"
    assert widened(program(entry(bits))) is None


def test_a_drawing_is_no_program(tmp_path: Path) -> None:
    asked = module(tmp_path / "dump", *["tanh"] * 4)
    snapshot = asked.snapshots[0]
    assert isinstance(program_of(asked, snapshot), RunnableProgram)
    drawn = snapshot.read_from.name
    drawing = replace(
        snapshot, read_from=replace(snapshot.read_from, name=replace(drawn, kind="hlo-dot"))
    )
    refused = program_of(asked, drawing)
    assert isinstance(refused, NotRunnableError)
    assert "drawing" in str(refused)
