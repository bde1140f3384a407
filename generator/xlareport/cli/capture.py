"""`xlareport capture`: run a program so that XLA dumps, then build the report."""

import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlareport.captures.run import levels
from xlareport.cli.flags import era_option
from xlareport.cli.options import OUT_FOLDER, script_name
from xlareport.cli.terminal import print_problems, printable, progress_bar, short_name
from xlareport.runtime.errors import XlareportError

if TYPE_CHECKING:
    from xlareport.captures.run import Plan

_NOTHING = (
    "XLA dumped nothing. Was anything compiled, by a jitted function that ran? Did the program set "
    "XLA_FLAGS itself, or compile on another machine? See the guide, 'Getting a good dump'."
)


@click.command(
    name="capture",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--level",
    type=click.Choice(tuple(levels())),
    default="passes",
    show_default=True,
    help="; ".join(f"{level.name}: {level.words}" for level in levels().values()) + ".",
)
@click.option(
    "--out",
    type=OUT_FOLDER,
    help="Where dump/ and report/ go, new or empty; by default a folder with a timestamp.",
)
@era_option
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM...")
def command(level: str, out: Path | None, era: str, program: tuple[str, ...]) -> None:
    """Run PROGRAM with the flags that make XLA dump, and build the report when it ends.

    The report is built whether the program succeeds, fails or is interrupted with Ctrl-C. Standard
    input and output are those of the program, and so is the exit code. Flags that are already set
    are kept. Each process gets a directory of its own.
    """
    from xlareport.captures.run import find_era, plan_capture, run_program

    out = out or Path(f"xlareport-{time.strftime('%Y%m%d-%H%M%S')}")
    if len(str(out.resolve()).split()) > 1:
        raise click.BadParameter("XLA's flags cannot hold a path with spaces.", param_hint="--out")
    era = era or find_era(program, os.environ) or ""
    plan = plan_capture(level, out / "dump", os.environ, era or None)
    _print_plan(program, plan, level, era)
    code = run_program(program, plan)
    _report(plan, out / "report", script_name(program))
    click.get_current_context().exit(code)


def _print_plan(program: tuple[str, ...], plan: "Plan", level: str, era: str) -> None:
    chosen = levels()[level]
    since = f"for XLA as of {era}" if era else "with the flags that every XLA since 2021 knows"
    _say(f"Running {shlex.join(program)} {since}; XLA dumps into {plan.folder}.")
    _say(f"Level {level}: {chosen.words}. On disk this took {chosen.cost}.")
    for note in plan.notes:
        _say(note)


def _report(plan: "Plan", out: Path, title: str) -> None:
    """Build the report; errors are printed and do not change the exit code."""
    from xlareport.captures.run import find_dump
    from xlareport.report import BuildOptions, build

    dump = find_dump(plan)
    if dump is None:
        _say(_NOTHING)
        return
    try:
        with progress_bar(quiet=False) as progress:
            built = build(
                str(dump), BuildOptions(out=out, jobs=os.cpu_count() or 1, title=title), progress
            )
    except XlareportError as error:
        _say(f"No report: {error}")
        return
    print_problems(built.report.problems, "the Dump contents page lists all")
    main = short_name(built.report.main.name) if built.report.main else "unknown"
    _say(f"Open {(out / 'site/index.html').resolve()} (the main program is {main}).")


def _say(words: str) -> None:
    """Print to standard error, next to the program's own output."""
    click.echo(f"xlareport: {printable(words)}", err=True)
