"""`xlareport main`: which module is the program, for people and for scripts."""

import click
from msgspec import to_builtins

from xlareport.cli.options import jobs_option, limit_options
from xlareport.cli.terminal import print_problems, progress_bar, say, say_json
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.limits import Limits


@click.command(name="main")
@click.argument("dump")
@click.option("--json", "as_json", is_flag=True, help="Print the `main` object of report.json.")
@click.option(
    "--marker", metavar="REGEX", help="The main program is the module that contains this."
)
@jobs_option
@limit_options
def command(dump: str, *, as_json: bool, marker: str | None, jobs: int, limits: Limits) -> None:
    """Print the main program of DUMP with confidence and evidence."""
    from xlareport.records.sentences import sureness
    from xlareport.report import BuildOptions, read_report

    with progress_bar() as progress:
        report = read_report(dump, BuildOptions(jobs=jobs, marker=marker, limits=limits), progress)
    print_problems(report.problems, "`xlareport build` lists all")
    if report.main is None:
        raise UnreadableInputError(f"{report.dump.path} holds no module that could be read.")
    if as_json:
        say_json(to_builtins(report.main))
        return
    say(f"{report.main.module}  ({sureness(report.main.sureness)})")
    if report.main.function != report.main.name:
        say(f"  the function {report.main.function}")
    for reason in report.main.reasons:
        say(f"  - {reason}")
    say(f"  {report.main.meaning}")
    for run in report.main.runs:
        numbers = ", ".join(map(str, run.processes))
        which = "process" if len(run.processes) == 1 else "processes"
        say(f"  program of {which} {numbers}: {run.module}  ({sureness(run.sureness)})")
    programs = [program.module for program in report.main.programs]
    for module in programs:
        if module != report.main.module:
            say(f"  and {module}")
    for other in report.main.runners_up:
        if other.module not in programs:
            say(f"  or {other.module}")
