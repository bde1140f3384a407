"""A progress bar for long work, silent where the output is not a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from xlareport.progress import Tell


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Tell]:
    """Show one bar for each kind of work that is told of; it has no thread before the first."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:32}"), BarColumn(), MofNCompleteColumn())
    shown = console.is_terminal and not quiet
    bar = Progress(*columns, TimeElapsedColumn(), console=console, disable=not shown)
    tasks: dict[str, TaskID] = {}

    def tell(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total)
        bar.start()
        bar.update(tasks[what], completed=done, total=total)

    try:
        yield tell
    finally:
        bar.stop()
