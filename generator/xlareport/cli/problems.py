"""What could not be read, told on standard error."""

from collections.abc import Sequence

import click

from xlareport.cli.terminal import printable
from xlareport.pages.views import ProblemView

_SHOWN = 10


def tell_problems(problems: Sequence[ProblemView], where_all: str) -> None:
    """Print the first problems, and where all of them are to be found."""
    for problem in problems[:_SHOWN]:
        place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
        message = "\n  ".join(printable(line) for line in problem.message.splitlines())
        click.echo(f"Could not read {printable(place)}: {message}", err=True)
    if len(problems) > _SHOWN:
        click.echo(f"... and {len(problems) - _SHOWN} more; {where_all}.", err=True)
