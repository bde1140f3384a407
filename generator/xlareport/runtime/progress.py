"""Reports the progress of long work to a callback."""

from collections.abc import Callable

ProgressCallback = Callable[[str, int, int], None]
"""Called with the current work, the amount done and the total."""


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""
    del what, done, total
