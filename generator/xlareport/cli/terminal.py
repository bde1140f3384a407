"""The output of commands: text without control sequences, problems, a progress bar.

GitHub interprets a line that begins with `::`, and `##[` anywhere, as a workflow command.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from xlareport.runtime.errors import Problem, writing
from xlareport.runtime.progress import ProgressCallback, silent

_LONG_NAME = 60
_ORDER = re.compile(r"^(\s*):(?=:)|##\[")


def say(text: str, *, err: bool = False) -> None:
    """Print text, which may have several lines, so that nothing acts upon it."""
    for line in text.split("\n"):
        click.echo(printable(line), err=err)


def say_json(value: Any) -> None:
    """Print a value as JSON, so that nothing acts upon it."""
    click.echo(json.dumps(value, indent=2).replace("##[", "##\\u005b"))


def printable(text: str) -> str:
    """Return a line without anything that a terminal would act upon: escapes are spelled out."""
    plain = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
    return _ORDER.sub(
        lambda match: f"{match[1]}\\x3a" if match[1] is not None else "##\\x5b", plain
    )


def write_output(path: Path, content: str | bytes) -> None:
    """Write a file that was asked for; an error names its path."""
    with writing(path):
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def warn_of_marker(marker: str | None, sureness: str) -> bool:
    """Print that a marker did not decide which module is the main program; say if it did not."""
    if marker is None or sureness == "marker":
        return False
    say(f"--marker {marker!r} is in no module, or in several: it decides nothing.", err=True)
    return True


_PROBLEMS_SHOWN = 10


def print_problems(problems: Sequence[Problem], where_all: str) -> None:
    """Print the first problems, and where all of them are listed."""
    for problem in problems[:_PROBLEMS_SHOWN]:
        place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
        lines = "\n  ".join((problem.message, *problem.excerpt.splitlines()))
        say(f"Could not read {printable(place)}: {lines}", err=True)
    if len(problems) > _PROBLEMS_SHOWN:
        say(f"... and {len(problems) - _PROBLEMS_SHOWN} more; {where_all}.", err=True)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[ProgressCallback]:
    """Show a bar for each kind of work; it starts no thread before the first one."""
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    with _shown() as progress:
        yield progress


@contextmanager
def _shown() -> Iterator[ProgressCallback]:
    from rich.console import Console  # takes long, and is for terminals only
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:32}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeElapsedColumn(), console=console)
    tasks: dict[str, TaskID] = {}

    def progress(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total)
        bar.start()
        bar.update(tasks[what], completed=done, total=total)

    try:
        yield progress
    finally:
        bar.stop()


def short_name(program: str) -> str:
    """Return the name of a module, or of its function where TensorFlow made it a long one."""
    from xlareport.dump.module_names import explain_module

    return program if len(program) <= _LONG_NAME else explain_module(program).display or program
