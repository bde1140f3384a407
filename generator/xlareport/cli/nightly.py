"""`xlareport nightly`: run a program, report, compare with the baseline, publish."""

import os
import time
from pathlib import Path

import click

from xlareport.captures.run import levels
from xlareport.cli.options import OUT_FOLDER, jobs_option, limit_options, script_name
from xlareport.cli.terminal import printable, progress_bar
from xlareport.runtime.limits import Limits

_TITLES = ("XLAREPORT_TITLE", "GITHUB_WORKFLOW", "CI_JOB_NAME")
"""Variables that name the job, the first that is set."""


@click.command(
    name="nightly",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--root",
    type=OUT_FOLDER,
    default=Path("nightly"),
    show_default=True,
    help="Where site/ (to publish), state/ (to keep), summary.md and budgets.xml go.",
)
@click.option("--night", help="Name of this night; the date in UTC by default.")
@click.option("--title", help="Name of the job; by default what CI calls it, else the program.")
@click.option("--fail-on", metavar="BUDGET", multiple=True, help="`peak_bytes > +5%`; repeatable.")
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A TOML file with budgets; else xlareport.toml and pyproject.toml of this folder.",
)
@click.option("--accept", is_flag=True, help="Make this night the baseline, whatever it holds.")
@click.option("--keep", type=click.IntRange(min=2), default=90, show_default=True, help="Nights.")
@click.option("--level", type=click.Choice(tuple(levels())), default="passes", show_default=True)
@jobs_option
@click.option("--quiet", "-q", is_flag=True, help="No progress bar.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM...")
@limit_options
@click.pass_context
def command(
    ctx: click.Context,
    root: Path,
    night: str | None,
    title: str | None,
    *,
    fail_on: tuple[str, ...],
    config: Path | None,
    accept: bool,
    keep: int,
    level: str,
    jobs: int,
    quiet: bool,
    program: tuple[str, ...],
    limits: Limits,
) -> None:
    """Run PROGRAM with JAX's compilation cache off, report, and compare with the baseline.

    The first night is the baseline until --accept moves it. Budgets are those of `xlareport
    compare`; by default peak memory, FLOPs and bytes accessed of the main program may grow by 5%.
    A night that runs again replaces itself. Publish ROOT/site, keep ROOT from night to night.

    Exit codes: 0 all budgets kept, 1 one exceeded or not checked, the program's own where it fails.
    """
    from xlareport.cli.compare import configured_budgets
    from xlareport.nightly import NightOptions, run_night
    from xlareport.records.budgets import parse_budget

    texts = (*fail_on, *configured_budgets(config))
    options = NightOptions(
        root=root,
        night=night or time.strftime("%Y-%m-%d", time.gmtime()),
        title=title or _title(program),
        budgets=tuple(map(parse_budget, texts)),
        accept=accept,
        keep=keep,
        level=level,
        jobs=jobs,
        limits=limits,
    )
    with progress_bar(quiet=quiet) as progress:
        outcome = run_night(program, options, os.environ, progress)
    text = f"Night {outcome.night}: {outcome.outcome}. {outcome.sentence}"
    click.echo(f"xlareport: {printable(text)}", err=True)
    click.echo(f"xlareport: open {(root / 'site/index.html').resolve()}", err=True)
    ctx.exit(outcome.code)


def _title(program: tuple[str, ...]) -> str:
    """Return CI's name of the job, else the name of the script."""
    named = next(filter(None, map(os.environ.get, _TITLES)), None)
    return named or script_name(program)
