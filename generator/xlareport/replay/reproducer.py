"""A folder that shows a fault with jax alone: texts, inputs, a script, the expected difference."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from xlareport.program import ParsedModule
from xlareport.replay.bisect import QUIET, Runner, make_inputs, program_of
from xlareport.replay.child_process import Child, ReplayError, RunError
from xlareport.replay.crash import Crash, minimized
from xlareport.replay.cutting import cut, inlined, shared_names
from xlareport.replay.first_difference import (
    OutputDifference,
    Tolerance,
    choose_tolerance,
    is_beyond,
)
from xlareport.replay.flatten import flatten
from xlareport.replay.runnable_program import NotRunnableError, RunnableProgram
from xlareport.runtime.errors import refuse_contents, writing
from xlareport.runtime.resources import PACKAGE
from xlareport.snapshots import ParsedSnapshot

_MOST_TESTS = 400
_SCRIPT = PACKAGE / "replay" / "run_reproducer.py"


class Reproducer(Struct, frozen=True):
    """Two programs that ought to give the same, and do not."""

    stages: tuple[str, str]
    """The labels of both snapshots."""
    programs: tuple[RunnableProgram, RunnableProgram]
    inputs: Path
    difference: OutputDifference
    tolerance: Tolerance
    instructions: tuple[int, int]
    """Number of instructions of both programs before minimization."""

    @property
    def line_counts(self) -> tuple[int, int]:
        """Number of instructions of both programs now."""
        return self.programs[0].line_count, self.programs[1].line_count


def step_programs(
    module: ParsedModule, key: str
) -> tuple[ParsedSnapshot, ParsedSnapshot, RunnableProgram, RunnableProgram]:
    """Return a snapshot and the last one before it that can be run; raises ReplayError."""
    after = module.snapshot(key)
    program = program_of(module, after)
    if not isinstance(program, RunnableProgram):
        raise ReplayError(f"{after.stage.label} cannot be run: {program}.")
    place = module.snapshots.index(after)
    for before in reversed(module.snapshots[:place]):
        earlier = program_of(module, before)
        if isinstance(earlier, RunnableProgram) and earlier.inputs() == program.inputs():
            return before, after, earlier, program
    raise ReplayError(f"No snapshot before {after.stage.label} can be run on the same inputs.")


def reproduce(
    module: ParsedModule, key: str, child: Child, seed: int, *, minimize: bool
) -> Reproducer:
    """Return the programs of a step with inputs under which they differ; raises ReplayError."""
    before, after, *programs = step_programs(module, key)
    if any(program.placement is not None for program in programs):
        raise ReplayError("A program of several devices is not made into a reproducer.")
    case = _Case(child, seed, choose_tolerance(_types(programs), None))
    inputs, difference = case.measure(programs)
    if difference is None:
        raise ReplayError(f"The step to {after.stage.label} did not run: {case.reason}.")
    counts = (programs[0].line_count, programs[1].line_count)
    if minimize:
        if not is_beyond(difference, case.tolerance):
            raise ReplayError(
                f"The outputs do not change at {after.stage.label} beyond the tolerance of "
                f"{case.tolerance.limit:.2g}: there is nothing to minimize."
            )
        programs = case.minimize(programs, difference)
        inputs, difference = case.measure(programs)
    if difference is None:
        raise ReplayError("The minimized programs ran once and not again.")
    labels = (before.stage.label, after.stage.label)
    pair = (programs[0], programs[1])
    return Reproducer(labels, pair, inputs, difference, case.tolerance, counts)


def _types(programs: Sequence[RunnableProgram]) -> list[str]:
    return sorted({name for program in programs for name in program.float_types()})


class _Case:
    """Two programs that differ, minimized step by step."""

    def __init__(self, child: Child, seed: int, tolerance: Tolerance) -> None:
        self.tolerance = tolerance
        self.reason = ""
        """Why the last programs did not run."""
        self._child, self._seed = child, seed
        self._is_finite = True

    def measure(self, programs: Sequence[RunnableProgram]) -> tuple[Path, OutputDifference | None]:
        """Run programs on the same inputs; None where one does not run."""
        try:
            inputs = make_inputs(self._child, programs[0], self._seed)
            runner = Runner(self._child, inputs.path)
            first, second = (runner.run(program)[0] for program in programs)
            return inputs.path, runner.compare(first, second)
        except (RunError, ReplayError) as error:
            self.reason = str(error)
            return self._child.folder, None

    def minimize(
        self, programs: Sequence[RunnableProgram], difference: OutputDifference
    ) -> list[RunnableProgram]:
        """Return the smallest parts that still differ, in a finite number if the whole does."""
        self._is_finite = difference.max_relative_error is not None
        try:
            whole = [inlined(program) for program in programs]
        except NotRunnableError:
            return list(programs)
        shared = shared_names(whole)
        names = frozenset(shared)
        if self._parts(whole, shared, names) is None:
            return list(programs)
        smallest = minimized(
            shared, lambda some: self._parts(whole, some, names) is not None, _MOST_TESTS
        )
        return self._parts(whole, smallest, names) or list(programs)

    def _parts(
        self,
        whole: Sequence[RunnableProgram],
        kept: Collection[str],
        shared: Collection[str],
    ) -> list[RunnableProgram] | None:
        """Return the parts of both programs if they still differ, else None."""
        try:
            parts = cut(whole, frozenset(kept), shared)
            for part in parts:
                flatten(part)
        except NotRunnableError:
            return None
        _, difference = self.measure(parts)
        if difference is None:
            return None
        if difference.max_relative_error is None and self._is_finite:
            return None
        return parts if is_beyond(difference, self.tolerance) else None


def write_reproducer(reproducer: Reproducer, out: Path) -> None:
    """Write the folder, new or empty; raises UnwritableFileError."""
    programs = dict(zip(("before", "after"), reproducer.programs, strict=True))
    _write(programs, reproducer.inputs, _expected(reproducer), out)


def write_crash(crash: Crash, out: Path) -> None:
    """Write the folder of a program that fails, new or empty; raises UnwritableFileError."""
    document = {"stage": crash.stage, "crash": crash.message, "options": dict(QUIET)}
    expected = json.dumps(document, indent=2) + "\n"
    _write({"crash": crash.program}, crash.inputs, expected, out)


def _write(
    programs: Mapping[str, RunnableProgram], inputs: Path | None, expected: str, out: Path
) -> None:
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        refuse_contents(out)
        for name, program in programs.items():
            titled = program.text().replace("replayed", name, 1)
            (out / f"{name}.hlo").write_text(titled, "utf-8")
        if inputs is not None:
            (out / "inputs.npz").write_bytes(inputs.read_bytes())
        (out / "run.py").write_text(_SCRIPT.read_text("utf-8"), "utf-8")
        (out / "expected.json").write_text(expected, "utf-8")


def _expected(reproducer: Reproducer) -> str:
    document = {
        "before": reproducer.stages[0],
        "after": reproducer.stages[1],
        "max_relative_error": reproducer.difference.max_relative_error,
        "max_ulp": reproducer.difference.max_ulp,
        "tolerance": reproducer.tolerance.limit,
        "options": dict(QUIET),
    }
    return json.dumps(document, indent=2) + "\n"
