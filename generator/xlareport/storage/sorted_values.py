"""Sorts any number of values: beyond some thousands, parts are sorted in files and merged."""

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from xlareport.storage.spooled_values import SpooledValues

T = TypeVar("T")

TOGETHER = 4_000
"""Values that are sorted in memory."""
_BLOCK = 100
"""Values of a sorted part that are read at a time."""


def sort_values(
    values: Iterable[T], key: Callable[[T], Any], folder: Path | None = None
) -> Iterator[T]:
    """Yield values sorted by a key, equal ones in the order given; files are written to `folder`.

    Raises OSError where the disk is full.
    """
    waiting = iter(values)
    stored = SpooledValues[list[T]](folder, 0)  # one file for all: a process can open few
    runs: list[Iterator[T]] = []
    while some := sorted(islice(waiting, TOGETHER), key=key):
        if len(some) < TOGETHER and not runs:
            return iter(some)
        first = len(stored)
        stored.extend(some[start : start + _BLOCK] for start in range(0, len(some), _BLOCK))
        blocks = map(stored.value_at, range(first, len(stored)))
        runs.append(chain.from_iterable(blocks))
    return merge(*runs, key=key)
