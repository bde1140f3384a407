"""How far long work is, for whoever waits for it."""

from collections.abc import Callable

ProgressCallback = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, how much there is."""


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""
    del what, done, total
