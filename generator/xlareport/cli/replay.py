"""`xlareport replay`: run a snapshot on the CPU, or find the pass that broke the numbers."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from xlareport.cli.options import limit_options, module_option, python_option, size
from xlareport.cli.terminal import printable, progress_bar, say, say_json
from xlareport.runtime import units
from xlareport.runtime.limits import Limits

if TYPE_CHECKING:
    from xlareport.program import ParsedModule
    from xlareport.replay.bisect import Bisection, FirstStep
    from xlareport.replay.child_process import Child
    from xlareport.replay.first_difference import OutputDifference, StageRun
    from xlareport.replay.recorded_inputs import RecordedFiles

_BREACH = 1
SILENCE = (
    "Not reproduced on the CPU. That does not clear any pass: TF32, the bf16 passes of TPUs, "
    "Triton's accumulation, custom kernels and miscompiled machine code do not occur in this run."
)


@click.command(name="replay")
@click.argument("dump")
@module_option
@click.option("--stage", metavar="KEY", help="0017, or a name; by default the first snapshot.")
@click.option(
    "--inputs",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="An .npz file with the inputs in order; without it they are random.",
)
@click.option(
    "--recorded",
    is_flag=True,
    help="Take the inputs that the dump recorded (--xla_dump_hlo_snapshots).",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--outputs",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the outputs of the snapshot to this .npz file.",
)
@click.option(
    "--bisect",
    "as_bisection",
    is_flag=True,
    help="Run all snapshots and name the first step that changes the outputs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result of --bisect as JSON.")
@python_option("The interpreter that runs the program: one that has jax.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=120,
    show_default=True,
    help="Maximum time for one snapshot, compilation included.",
)
@click.option(
    "--memory",
    type=size,
    default="8GB",
    show_default=True,
    help="Maximum memory of the child process.",
)
@limit_options
def command(
    dump: str,
    *,
    module: str | None,
    stage: str | None,
    inputs: Path | None,
    recorded: bool,
    seed: int,
    outputs: Path | None,
    as_bisection: bool,
    as_json: bool,
    python: str,
    seconds: float,
    memory: int,
    limits: Limits,
) -> None:
    """Run a snapshot of a module of DUMP on the CPU with stock jaxlib, in a child process.

    Fusions become calls, bitcasts become transposes and reshapes, and layouts and backend_config
    are dropped. What cannot run this way is refused by name: most custom calls, infeed, outfeed,
    send and recv. With --bisect the exit code is 1 if a step is named.
    """
    from xlareport.replay.bisect import bisect
    from xlareport.replay.child_process import Bounds, child_process
    from xlareport.replay.recorded_inputs import find_record, write_record
    from xlareport.report import BuildOptions, read_one_module

    _check_usage(bisects=as_bisection, runs_one=bool(stage or outputs), as_json=as_json)
    if recorded and inputs is not None:
        raise click.UsageError("--recorded and --inputs are two ways to give inputs: take one.")
    with child_process(python, Bounds(seconds, memory)) as child:
        with progress_bar() as progress:
            options = BuildOptions(jobs=os.cpu_count() or 1, limits=limits)
            read = read_one_module(dump, module, options, progress)
            record = write_record(*find_record(read.files), child.folder) if recorded else None
            given, results = (record.inputs, record.results) if record else (inputs, None)
            step = None
            if as_bisection:
                step = bisect(read, child, seed, given, progress, results=results)
        if record is not None and not as_json:
            say(f"Inputs: those of {record.path}{_of_platform(record)}.")
        if step is None:
            _run_one(read, child, stage, (seed, given), outputs)
            return
    if as_json:
        say_json(bisection_json(step))
    else:
        for line in _result_lines(step, read):
            say(line)
    click.get_current_context().exit(_BREACH if step.first else 0)


def _check_usage(*, bisects: bool, runs_one: bool, as_json: bool) -> None:
    if bisects and runs_one:
        raise click.UsageError("--bisect runs all snapshots: it takes no --stage and no --outputs.")
    if as_json and not bisects:
        raise click.UsageError("--json goes with --bisect.")


def _run_one(
    read: "ParsedModule",
    child: "Child",
    stage: str | None,
    wanted: tuple[int, Path | None],
    outputs: Path | None,
) -> None:
    from xlareport.replay.bisect import Runner, make_inputs, program_of
    from xlareport.replay.child_process import ReplayError, RunError
    from xlareport.replay.runnable_program import RunnableProgram

    snapshot = read.snapshots[0] if stage is None else read.snapshot(stage)
    program = program_of(read, snapshot)
    if not isinstance(program, RunnableProgram):
        raise ReplayError(f"{snapshot.stage.label} of {read.files.key} cannot be run: {program}.")
    say(f"{read.files.key}, {snapshot.stage.label}, on the CPU with jaxlib {child.release}.")
    for change, count in program.changes.items():
        say(f"  rewritten: {change} ({count})")
    child.use_devices(program.devices)
    try:
        inputs = make_inputs(child, program, *wanted)
        for number, bounds in enumerate(inputs.ranges):
            say(
                f"  input {number}: {bounds.dtype}{list(bounds.dimensions)} "
                f"from {bounds.low:.4g} to {bounds.high:.4g}, {bounds.reason}"
            )
        path, described = Runner(child, inputs.path).run(program)
    except RunError as error:
        raise ReplayError(f"{snapshot.stage.label} did not run: {error}.") from error
    for number, output in enumerate(described):
        note = "" if output["finite"] else ", not all finite"
        say(f"  output {number}: {output['dtype']}{output['dimensions']}{note}")
    if outputs is not None:
        outputs.write_bytes(path.read_bytes())


def _of_platform(record: "RecordedFiles") -> str:
    return f", recorded on {printable(record.platform)}" if record.platform else ""


def bisection_json(result: "Bisection") -> dict[str, object]:
    """Return the document that `--bisect --json` prints."""
    return {
        "module": result.module,
        "jaxlib": result.release,
        "tolerance": result.tolerance.limit,
        "stages": [_stage_json(run) for run in result.runs],
        "first": None if result.first is None else _first_json(result.first),
        "first_rounding": result.rounding,
        "outputs": {
            "count": result.outputs,
            "not_finite": result.uninformative,
            "differing_between_devices": result.disagreeing,
        },
        "recorded": None if result.recorded is None else to_builtins(result.recorded),
        "verdict": _verdict(result),
    }


def _stage_json(run: "StageRun") -> dict[str, object]:
    from xlareport.replay.first_difference import OutputDifference

    difference = run.difference or OutputDifference(None, None)
    return {
        "stage": run.stage,
        "ran": run.ran,
        "reason": run.reason,
        "max_relative_error": difference.max_relative_error,
        "max_ulp": difference.max_ulp,
    }


def _first_json(first: "FirstStep") -> dict[str, object]:
    return {
        "stage": first.stage,
        "after": first.after,
        "change": first.change,
        "confirmed": first.confirmed,
    }


def _verdict(result: "Bisection") -> str:
    if result.first is None:
        return SILENCE
    if not result.first.confirmed:
        return "A step differed once, and not when both its sides were run again: no verdict."
    return f"The outputs change at {result.first.stage}. What ran before it: {result.first.after}."


def _result_lines(result: "Bisection", read: "ParsedModule") -> Iterator[str]:
    ran = sum(run.ran for run in result.runs)
    yield (
        f"{result.module}: {ran} of {units.plural(len(result.runs), 'snapshot')} ran on the CPU "
        f"with jaxlib {result.release}."
    )
    yield f"Tolerance: relative error {result.tolerance.limit:.2g}, {result.tolerance.reason}."
    for run in result.runs:
        yield f"  {_difference_words(run):<28} {run.label}"
    if result.uninformative:
        yield (
            f"{result.uninformative} of {units.plural(result.outputs, 'output')} of the first "
            "run are NaN or infinite throughout: no difference shows in them."
        )
    if result.disagreeing:
        yield (
            f"{units.plural(result.disagreeing, 'output')} of the first run differ between the "
            "devices that hold copies."
        )
    if result.recorded is not None:
        difference = _figures_words(result.recorded)
        yield f"The recorded result differs from the first run by {difference}."
    if result.rounding is not None:
        yield f"The last bits first change at {result.rounding}."
    yield _verdict(result)
    if result.first is not None:
        yield from _story(result.first, read)


def _difference_words(run: "StageRun") -> str:
    if run.difference is None:
        return f"not run: {run.reason}."
    return _figures_words(run.difference)


def _figures_words(difference: "OutputDifference") -> str:
    error, ulp = difference.max_relative_error, difference.max_ulp
    shown = "not finite" if error is None else f"{error:.2g}"
    return shown if ulp is None else f"{shown}, {ulp:,} ULP"


def _story(first: "FirstStep", read: "ParsedModule") -> Iterator[str]:
    from xlareport.pages.navigation import step_address

    yield f"What changed: {first.change}"
    usual = first.as_usual
    if usual is None:
        yield "With all passes of the CPU compiler the two snapshots did not both run."
    else:
        error = usual.max_relative_error
        shown = "not finite" if error is None else f"{error:.2g}"
        yield f"With all passes of the CPU compiler the two snapshots differ by {shown}."
    yield f"In the report: {step_address(read.files.slug, first.stage)}"
