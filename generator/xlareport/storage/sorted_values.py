"""Values in order, however many: beyond some thousands sorted parts lie in files and are merged."""

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from xlareport.storage.spooled_values import SpooledValues
from xlareport.storage.value_blocks import ValueBlocks

T = TypeVar("T")

TOGETHER = 8_000
"""Values that are sorted in memory."""


def sort_values(
    values: Iterable[T], key: Callable[[T], Any], folder: Path | None = None
) -> Iterator[T]:
    """Yield values by a key, equal ones in the order given; files lie in a folder.

    Raises OSError where the disk is full.
    """
    waiting = iter(values)
    runs: list[Iterable[T]] = []
    while some := sorted(islice(waiting, TOGETHER), key=key):
        if len(some) < TOGETHER and not runs:
            return iter(some)
        runs.append(ValueBlocks(SpooledValues(folder, 0), some))
    return merge(*runs, key=key)
