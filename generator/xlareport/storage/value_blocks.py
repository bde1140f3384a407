"""Small values of which there are very many, some together in a file: read one after another."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Generic, TypeVar

from xlareport.storage.lazy_sequence import LazySequence
from xlareport.storage.spooled_values import FilledValues, SpooledValues

T = TypeVar("T")
_VALUES_IN_BLOCK = 100
_OPEN = 4
"""Blocks that are in memory at a time."""


class ValueBlocks(LazySequence[T], Generic[T]):
    """A sequence of which few blocks are in memory at a time."""

    def __init__(self, blocks: SpooledValues[tuple[T, ...]], values: Iterable[T]) -> None:
        """Put all values into `blocks`, which is empty."""
        self.blocks = blocks
        waiting = iter(values)
        blocks.extend(iter(lambda: tuple(islice(waiting, _VALUES_IN_BLOCK)), ()))
        self._length = (len(blocks) - 1) * _VALUES_IN_BLOCK + len(blocks[-1]) if len(blocks) else 0
        self._open: dict[int, tuple[T, ...]] = {}
        """The blocks that were read lately, by their places."""

    def __len__(self) -> int:
        return self._length

    def value_at(self, place: int) -> T:
        """Return a value by its place; its block stays in memory for a while."""
        block, inside = divmod(place, _VALUES_IN_BLOCK)
        if block not in self._open:
            if len(self._open) >= _OPEN:
                del self._open[next(iter(self._open))]
            self._open[block] = self.blocks[block]
        return self._open[block][inside]

    def __iter__(self) -> Iterator[T]:
        for block in self.blocks:
            yield from block


def keep_blocks(values: Iterable[T], folder: Path, most: int) -> Sequence[T]:
    """Return the values in memory if there are fewer than `most`, else in a file in a folder.

    Other processes of this machine can read them as long as the folder exists.
    """
    waiting = iter(values)
    first = tuple(islice(waiting, most))
    if len(first) < most:
        return first
    handle, path = tempfile.mkstemp(prefix="values-", dir=folder)
    os.close(handle)
    return ValueBlocks(FilledValues[tuple[T, ...]](Path(path)), chain(first, waiting))
