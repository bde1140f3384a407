"""Runs the snapshots of a module on the same inputs and names the first that differs."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from xlareport.analysis.passes.step_boundaries import find_boundaries
from xlareport.analysis.steps.step import step
from xlareport.hlo.shape import parse_shape
from xlareport.program import ParsedModule
from xlareport.replay.child_process import Child, ReplayError, RunError
from xlareport.replay.first_difference import (
    Departure,
    OutputDifference,
    StageRun,
    Tolerance,
    choose_tolerance,
    find_departure,
    first_rounding,
)
from xlareport.replay.parameter_shards import find_placement
from xlareport.replay.random_inputs import InputRange, input_ranges
from xlareport.replay.rewrite import runnable
from xlareport.replay.runnable_program import (
    Body,
    Line,
    NotRunnableError,
    RunnableProgram,
    plain_shape,
)
from xlareport.runtime.progress import ProgressCallback, silent
from xlareport.snapshots import ParsedSnapshot

_FLOATS = re.compile(r"\b(?:bf16|f16|f32)\[")
_COMPLEX = re.compile(r"\bc64\[")
_BITS = frozenset({"bitcast-convert", "reduce-precision", "custom-call"})
"""Opcodes that depend on the width of their floats."""


def widened(program: RunnableProgram) -> RunnableProgram | None:
    """Return the program with all floats as f64; None where it depends on their widths."""
    if any(line.opcode in _BITS for body in program.bodies for line in body.lines):
        return None
    bodies = [
        Body(body.name, [_wide(line) for line in body.lines], body.is_entry)
        for body in program.bodies
    ]
    return replace(program, bodies=bodies)


def _wide(line: Line) -> Line:
    text = _COMPLEX.sub("c128[", _FLOATS.sub("f64[", plain_shape(line.shape)))
    return replace(line, shape=parse_shape(text))


QUIET: Mapping[str, str] = {
    "xla_backend_optimization_level": "0",
    "xla_allow_excess_precision": "false",
    "xla_disable_hlo_passes": "algsimp,simplify-fp-conversions,constant_folding,reshape-mover,"
    "tree_reduction_rewriter,convert-mover",
}
"""Options under which XLA's CPU compiler leaves the arithmetic of a program as it is written."""
AS_USUAL: Mapping[str, str] = {"xla_allow_excess_precision": "false"}
"""Options of the second opinion: all passes of the CPU compiler run."""


class Inputs(Struct, frozen=True):
    """The inputs of all runs."""

    path: Path
    ranges: tuple[InputRange, ...]
    """Empty where the inputs are the user's."""


class FirstStep(Struct, frozen=True):
    """The step that changed the numbers."""

    stage: str
    after: str
    """The pass or passes that ran in it, or may have."""
    change: str
    """The changes in the step, in sentences."""
    difference: OutputDifference
    confirmed: bool
    """Whether a second run of the first snapshot and of this one differed by exactly as much."""
    as_usual: OutputDifference | None
    """With all passes of the CPU compiler; None where that did not run."""


class Bisection(Struct, frozen=True):
    """The results of running a module's snapshots."""

    module: str
    release: str
    """Of jaxlib."""
    runs: tuple[StageRun, ...]
    tolerance: Tolerance
    uninformative: int
    """Outputs of the first run that are NaN or infinite throughout: nothing shows in them."""
    outputs: int
    first: FirstStep | None
    rounding: str | None
    """The stage of the first difference in the last bits, within the tolerance or not."""
    disagreeing: int
    """Outputs of the first run whose copies differ between devices."""
    recorded: OutputDifference | None
    """How far the result that the dump recorded is from the first run; None where none is used."""


class Runner:
    """Runs programs in a child process; a program that was run before is not run again."""

    def __init__(self, child: Child, inputs: Path, options: Mapping[str, str] = QUIET) -> None:
        """Take the child and the file of inputs that every program is given."""
        self._child, self._inputs, self._options = child, inputs, options
        self._known: dict[str, tuple[Path, list[dict[str, Any]]] | RunError] = {}

    def run(
        self, program: RunnableProgram, *, wide: bool = False
    ) -> tuple[Path, list[dict[str, Any]]]:
        """Return the file of the outputs and what they are; raises RunError."""
        text = program.text()
        name = sha256(text.encode()).hexdigest()
        if name not in self._known:
            try:
                self._known[name] = self._run(program, text, name, wide=wide)
            except RunError as error:
                self._known[name] = error
        outputs = self._known[name]
        if isinstance(outputs, RunError):
            raise outputs
        return outputs

    def _run(
        self, program: RunnableProgram, text: str, name: str, *, wide: bool
    ) -> tuple[Path, list[dict[str, Any]]]:
        kind = sha256(repr(sorted(self._options.items())).encode()).hexdigest()[:8]
        source, outputs = (self._child.folder / f"{name}.{kind}.{end}" for end in ("txt", "npz"))
        source.write_text(text, "utf-8")
        answer = self._child.ask(
            "run",
            text=str(source),
            inputs=str(self._inputs),
            outputs=str(outputs),
            options=dict(self._options),
            wide=wide,
            placement=None if program.placement is None else to_builtins(program.placement),
        )
        return outputs, answer["outputs"]

    def compare(self, expected: Path, actual: Path) -> OutputDifference:
        """Return how far outputs are from others; raises RunError."""
        outputs = self._child.ask("compare", expected=str(expected), actual=str(actual))["outputs"]
        if outputs is None:
            return OutputDifference(None, None)
        errors = [output["error"] for output in outputs]
        ulp = [output["ulp"] for output in outputs if output["ulp"] is not None]
        error = None if None in errors else max(errors, default=0.0)
        return OutputDifference(error, max(ulp, default=None))


def program_of(
    module: ParsedModule, snapshot: ParsedSnapshot
) -> RunnableProgram | NotRunnableError:
    """Return a snapshot of a module as a program, or why it is none."""
    if snapshot.read_from.name.kind == "hlo-dot":
        return NotRunnableError("it was read from a drawing, which leaves out values")
    try:
        placement = find_placement([snapshot.hlo for snapshot in module.snapshots], snapshot.hlo)
        return runnable(snapshot.hlo, placement)
    except NotRunnableError as error:
        return error


def make_inputs(
    child: Child, program: RunnableProgram, seed: int, given: Path | None = None
) -> Inputs:
    """Return inputs for a program, by seed or a user's; raises ReplayError, RunError."""
    path = child.folder / f"inputs-{seed}.npz"
    try:
        ranges = tuple(input_ranges(program))
    except NotRunnableError as error:
        raise ReplayError(f"No inputs can be made: {error}.") from error
    if given is not None:
        _check_given(child, given, ranges)
        return Inputs(given.resolve(), ())
    child.ask(
        "make_inputs", ranges=[to_builtins(range_) for range_ in ranges], seed=seed, to=str(path)
    )
    return Inputs(path, ranges)


def _check_given(child: Child, given: Path, ranges: Sequence[InputRange]) -> None:
    held = child.ask("describe", path=str(given.resolve()))["arrays"]
    wanted = [[range_.dtype, list(range_.dimensions)] for range_ in ranges]
    if held != wanted:
        raise ReplayError(
            f"{given} does not hold the inputs of the program, in order. It holds {held}; the "
            f"program takes {wanted}."
        )


def bisect(
    module: ParsedModule,
    child: Child,
    seed: int = 0,
    given: Path | None = None,
    progress: ProgressCallback = silent,
    *,
    results: Path | None = None,
) -> Bisection:
    """Run every snapshot and name the first step that changed the numbers.

    `given` are inputs of the user or of a record, `results` what was recorded with them. Raises
    ReplayError where no snapshot can be run.
    """
    programs = [program_of(module, snapshot) for snapshot in module.snapshots]
    first = next((program for program in programs if isinstance(program, RunnableProgram)), None)
    if first is None:
        reason = programs[0] if programs else "it has no snapshots"
        raise ReplayError(f"No snapshot of {module.files.key} can be run: {reason}.")
    child.use_devices(
        max(program.devices for program in programs if isinstance(program, RunnableProgram))
    )
    try:
        inputs = make_inputs(child, first, seed, given)
    except RunError as error:
        raise ReplayError(f"No inputs can be made: {error}.") from error
    runner = Runner(child, inputs.path)
    runs, described = _run_all(module, programs, runner, progress)
    tolerance = choose_tolerance(first.float_types(), _error_of_first(runner, programs, runs))
    departure = find_departure(runs, tolerance)
    first_step = None
    if departure is not None:
        before, after = programs[departure.before], programs[departure.place]
        again = _rerun(child, inputs.path, (first, after), QUIET)
        usual = _rerun(child, inputs.path, (before, after), AS_USUAL)
        first_step = _first_step(module, runs, departure, again, usual)
    rounding = first_rounding(runs)
    return Bisection(
        *(module.files.key, child.release, tuple(runs), tolerance),
        uninformative=sum(not output["informative"] for output in described),
        outputs=len(described),
        first=first_step,
        rounding=None if rounding is None else runs[rounding.place].stage,
        disagreeing=sum(output["copies"] > 1 for output in described),
        recorded=_against_record(runner, programs, runs, results),
    )


def _against_record(
    runner: Runner,
    programs: Sequence[RunnableProgram | NotRunnableError],
    runs: Sequence[StageRun],
    results: Path | None,
) -> OutputDifference | None:
    """Return how far the first run is from what was recorded; None where nothing was."""
    if results is None:
        return None
    for program, run in zip(programs, runs, strict=True):
        if run.ran and isinstance(program, RunnableProgram):
            with suppress(RunError):
                return runner.compare(results, runner.run(program)[0])
    return None


def _run_all(
    module: ParsedModule,
    programs: Sequence[RunnableProgram | NotRunnableError],
    runner: Runner,
    progress: ProgressCallback,
) -> tuple[list[StageRun], list[dict[str, Any]]]:
    reference: Path | None = None
    described: list[dict[str, Any]] = []
    runs: list[StageRun] = []
    shapes: list[tuple[str, tuple[int, ...]]] | None = None
    for snapshot, program in zip(module.snapshots, programs, strict=True):
        progress("running snapshots", len(runs), len(programs))
        run = StageRun(snapshot.stage.key, snapshot.stage.label, ran=False, reason=str(program))
        if isinstance(program, RunnableProgram):
            taken = program.inputs()
            try:
                _check_parameters(taken, shapes)
                outputs, described_now = runner.run(program)
                if reference is None:
                    reference, described, shapes = outputs, described_now, taken
                difference = runner.compare(reference, outputs)
                run = replace(run, ran=True, reason="", difference=difference)
            except RunError as error:
                run = replace(run, reason=str(error))
        runs.append(run)
    progress("running snapshots", len(programs), len(programs))
    return runs, described


def _check_parameters(taken: Sequence[object], wanted: Sequence[object] | None) -> None:
    if wanted is not None and taken != wanted:
        raise RunError("its parameters are not those of the first snapshot")


def _error_of_first(
    runner: Runner, programs: Sequence[RunnableProgram | NotRunnableError], runs: Sequence[StageRun]
) -> float | None:
    """Return how far the first run is from the same in doubles; None where that does not run."""
    for program, run in zip(programs, runs, strict=True):
        if run.ran and isinstance(program, RunnableProgram):
            wide = widened(program)
            if wide is None:
                return None
            try:
                doubles, _ = runner.run(wide, wide=True)
                narrow, _ = runner.run(program)
                return runner.compare(doubles, narrow).max_relative_error
            except RunError:
                return None
    return None


def _first_step(
    module: ParsedModule,
    runs: Sequence[StageRun],
    departure: Departure,
    again: OutputDifference | None,
    usual: OutputDifference | None,
) -> FirstStep:
    before, after = module.snapshots[departure.before], module.snapshots[departure.place]
    actors = [
        boundary.actor
        for boundary in find_boundaries(module)
        if departure.before < boundary.number <= departure.place
    ]
    change = step(before.hlo, after.hlo)
    difference = runs[departure.place].difference
    return FirstStep(
        stage=runs[departure.place].stage,
        after=", then ".join(dict.fromkeys(actors)),
        change=" ".join((change.headline, *change.account)),
        difference=difference or OutputDifference(None, None),
        confirmed=again is not None and again == difference,
        as_usual=usual,
    )


def _rerun(
    child: Child,
    inputs: Path,
    sides: Sequence[RunnableProgram | NotRunnableError],
    options: Mapping[str, str],
) -> OutputDifference | None:
    """Run both sides of a step in a fresh process; None where one does not run."""
    child.restart()
    runner = Runner(child, inputs, options)
    try:
        before, after = (runner.run(side)[0] for side in sides if isinstance(side, RunnableProgram))
        return runner.compare(before, after)
    except RunError:
        return None
