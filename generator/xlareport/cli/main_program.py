"""`xlareport main`: which module is the program, for people and for scripts."""

from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from xlareport.cli.options import jobs_option, limit_options
from xlareport.cli.terminal import print_problems, progress_bar, say, say_json, warn_of_marker
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.limits import Limits

if TYPE_CHECKING:
    from xlareport.records.report import MainProgramRecord


@click.command(name="main")
@click.argument("dump")
@click.option("--json", "as_json", is_flag=True, help="Print the `main` object of report.json.")
@click.option(
    "--marker", metavar="REGEX", help="The main program is the module that contains this."
)
@jobs_option
@limit_options
def command(dump: str, *, as_json: bool, marker: str | None, jobs: int, limits: Limits) -> None:
    """Print the main program of DUMP with confidence and evidence.

    If no module, or more than one, contains the marker, the exit code is 1.
    """
    from xlareport.report import BuildOptions, read_report

    with progress_bar() as progress:
        report = read_report(dump, BuildOptions(jobs=jobs, marker=marker, limits=limits), progress)
    print_problems(report.problems, "`xlareport build` lists all")
    if report.main is None:
        raise UnreadableInputError(f"{report.dump.path} holds no module that could be read.")
    if as_json:
        say_json(to_builtins(report.main))
    else:
        _print(report.main)
    if warn_of_marker(marker, report.main.sureness):
        raise SystemExit(1)


def _print(main: "MainProgramRecord") -> None:
    from xlareport.records.sentences import sureness

    say(f"{main.module}  ({sureness(main.sureness)})")
    if main.function != main.name:
        say(f"  the function {main.function}")
    for reason in main.reasons:
        say(f"  - {reason}")
    say(f"  {main.meaning}")
    for run in main.runs:
        numbers = ", ".join(map(str, run.processes))
        which = "process" if len(run.processes) == 1 else "processes"
        say(f"  program of {which} {numbers}: {run.module}  ({sureness(run.sureness)})")
    programs = [program.module for program in main.programs]
    for module in programs:
        if module != main.module:
            say(f"  and {module}")
    for other in main.runners_up:
        if other.module not in programs:
            say(f"  or {other.module}")
