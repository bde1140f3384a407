"""A progress bar for long work, silent where the output is not a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from xlareport.runtime.progress import ProgressCallback, silent


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[ProgressCallback]:
    """Show one bar for each kind of work that is told of; it has no thread before the first."""
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    with _shown() as progress:
        yield progress


@contextmanager
def _shown() -> Iterator[ProgressCallback]:
    from rich.console import Console  # noqa: PLC0415 - takes long, and is for terminals only
    from rich.progress import (  # noqa: PLC0415
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
