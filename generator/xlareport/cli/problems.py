"""What could not be read, told on standard error."""

from typing import TYPE_CHECKING

from xlareport.cli.terminal import printable, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xlareport.records.report import ProblemRecord

_SHOWN = 10


def print_problems(problems: "Sequence[ProblemRecord]", where_all: str) -> None:
    """Print the first problems, and where all of them are to be found."""
    for problem in problems[:_SHOWN]:
        place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
        message = "\n  ".join(problem.message.splitlines())
        say(f"Could not read {printable(place)}: {message}", err=True)
    if len(problems) > _SHOWN:
        say(f"... and {len(problems) - _SHOWN} more; {where_all}.", err=True)
