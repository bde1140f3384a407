"""`xlareport extract`: the texts of a report as files again, or one piece of a module alone."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlareport.cli.options import OUT_PATH, jobs_option, limit_options, module_option, python_option
from xlareport.cli.terminal import printable, progress_bar, say, write_output
from xlareport.runtime import units
from xlareport.runtime.errors import UnknownNameError
from xlareport.runtime.limits import Limits

if TYPE_CHECKING:
    from xlareport.hlo.model import HloModule
    from xlareport.program import ParsedModule


@click.command(name="extract")
@click.argument("source", metavar="DUMP_OR_SITE")
@click.option(
    "--out",
    type=OUT_PATH,
    help="A new or empty folder for the texts; with a piece, its file (else it is printed).",
)
@module_option
@click.option("--stage", metavar="KEY", help="0017, or a name; by default the optimized module.")
@click.option("--computation", metavar="C", help="Extract this computation with all it calls.")
@click.option(
    "--instruction", metavar="I", help="Extract this instruction; its operands become parameters."
)
@click.option(
    "--radius",
    type=click.IntRange(min=0, max=1000),
    default=0,
    show_default=True,
    help="How many levels of operands to include.",
)
@click.option(
    "--runnable",
    is_flag=True,
    help="Write a folder that shows with jax alone what changed in the step to --stage.",
)
@click.option(
    "--minimize",
    is_flag=True,
    help="With --runnable: shrink it while it differs, or fails in the same way.",
)
@python_option("With --runnable: an interpreter that has jax.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="With --runnable: of inputs.")
@jobs_option
@limit_options
def command(
    source: str,
    *,
    out: Path | None,
    module: str | None,
    stage: str | None,
    computation: str | None,
    instruction: str | None,
    radius: int,
    runnable: bool,
    minimize: bool,
    python: str,
    seed: int,
    jobs: int,
    limits: Limits,
) -> None:
    """Write the HLO texts of a report as files, or extract one piece of a module.

    Without --computation and --instruction every text of the dump is written below --out, byte for
    byte as XLA wrote it. With one of them the piece is a complete module that XLA can parse: the
    smallest module to attach to a bug report.

    With --runnable both sides of the step to --stage, by default the step that `xlareport replay
    --bisect` names, are written with inputs and a script that needs only jax.
    """
    from xlareport.report import BuildOptions, read_one_module

    if minimize and not runnable:
        raise click.UsageError("--minimize goes with --runnable.")
    if runnable:
        if out is None or computation or instruction:
            raise click.UsageError("--runnable needs a folder, --out, and takes no piece.")
        read = read_one_module(source, module, BuildOptions(jobs=jobs, limits=limits))
        _reproducer(read, stage, out, (python, seed), minimize=minimize)
        return
    if computation is None and instruction is None:
        _texts(source, out, limits)
        return
    with progress_bar() as progress:
        read = read_one_module(source, module, BuildOptions(jobs=jobs, limits=limits), progress)
    hlo = read.snapshot(stage).hlo
    if instruction is None:
        text = _computation(hlo, str(computation))
    else:
        text = _instruction(hlo, computation, instruction, radius)
    _write(text, out)


def _reproducer(
    read: "ParsedModule", stage: str | None, out: Path, run_by: tuple[str, int], *, minimize: bool
) -> None:
    from xlareport.replay.bisect import bisect
    from xlareport.replay.child_process import Bounds, ReplayError, child_process
    from xlareport.replay.crash import minimize_crash
    from xlareport.replay.reproducer import reproduce, write_crash, write_reproducer

    python, seed = run_by
    with child_process(python, Bounds()) as child, progress_bar() as progress:
        if stage is None:
            named = bisect(read, child, seed, progress=progress).first
            if named is None:
                raise ReplayError("No step changes the outputs on the CPU. Name one with --stage.")
            stage = named.stage
        crash = minimize_crash(read, stage, child, seed) if minimize else None
        if crash is not None:
            write_crash(crash, out)
            say(printable(f"{crash.stage} does not run: {crash.message}"))
            say(f"{crash.instructions:,} instructions, {crash.program.line_count:,} written.")
            say(f"Run {out / 'run.py'}.")
            return
        reproducer = reproduce(read, stage, child, seed, minimize=minimize)
        write_reproducer(reproducer, out)
    error = reproducer.difference.max_relative_error
    sides = zip(reproducer.stages, reproducer.instructions, reproducer.line_counts, strict=True)
    for label, count, written in sides:
        say(f"{label}: {count:,} instructions, {written:,} written")
    say(
        f"Relative error {'not finite' if error is None else f'{error:.2g}'}. Run {out / 'run.py'}."
    )


def _texts(source: str, out: Path | None, limits: Limits) -> None:
    from xlareport.extract import extract_texts

    if out is None:
        raise click.UsageError("Name a folder with --out, or a piece with --computation.")
    written, problems = extract_texts(source, out, limits)
    for problem in problems:
        say(printable(str(problem)), err=True)
    say(f"{units.plural(written, 'file')} written to {out}.")


def _computation(hlo: "HloModule", wanted: str) -> str:
    from xlareport.analysis.extract import cut_computation

    name = wanted.removeprefix("%")
    if name not in hlo.by_name:
        near = [text for text in hlo.by_name if name in text]
        raise UnknownNameError(f"The snapshot has no computation {wanted!r}", near)
    return cut_computation(hlo, name)


def _instruction(hlo: "HloModule", computation: str | None, wanted: str, radius: int) -> str:
    from xlareport.analysis.extract import cut_instruction

    name = wanted.removeprefix("%")
    where = computation.removeprefix("%") if computation else None
    homes = [computation.name for computation in hlo.computations if name in computation.by_name]
    homes = [text for text in homes if where in (None, text)]
    if len(homes) == 1:
        return cut_instruction(hlo, homes[0], name, radius)
    if homes:
        asked = f"{wanted!r} is in several computations; choose one with --computation"
        raise UnknownNameError(asked, homes)
    near = [
        instruction
        for computation in hlo.computations
        for instruction in computation.by_name
        if name in instruction
    ]
    raise UnknownNameError(f"The snapshot has no instruction {wanted!r}", near)


def _write(text: str, out: Path | None) -> None:
    if out is None:
        shown = "\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text
        click.echo(shown, nl=False)
        return
    write_output(out, text)
