"""Values in insertion order; beyond the first few they are in a file.

The file has no name and ends with the process. Its content was written by this process, or by a
child process that filled it.
"""

import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Generic, Self, TypeVar

from xlareport.runtime.batches import pack, unpack
from xlareport.storage.lazy_sequence import LazySequence

T = TypeVar("T")

RESIDENT = 256
"""Values of a sequence that stay in memory; most dumps have fewer modules."""
SMALL_RESIDENT = 2_000
"""Small values of a sequence that stay in memory, such as outlines, which are read many times."""
SMALL_DUMP = 32 << 20
"""Bytes of the files of all modules of a dump whose values may stay in memory as small ones do."""
_LENGTH = 8
"""Bytes of the length of a value in the file."""


def most_resident(dumped: int) -> int:
    """Return how many values of modules stay in memory; `dumped` are the bytes of their files."""
    return max(RESIDENT, SMALL_RESIDENT) if dumped <= SMALL_DUMP else RESIDENT


class SpooledValues(LazySequence[T], Generic[T]):
    """A sequence that grows at its end; a value may be replaced.

    Appending raises OSError where the disk is full. A value that is read twice may be two objects.
    """

    def __init__(self, folder: Path | None = None, resident: int | None = None) -> None:
        """Keep up to `resident` values in memory; the file is made in `folder` if it is needed."""
        self.folder = folder
        self.resident = RESIDENT if resident is None else resident
        self._held: dict[int, T] = {}
        """Values in memory, by a permanent negative number."""
        self._given = 0
        """The numbers given so far."""
        self._offsets = array("q")
        """Offset in the file of each value after its length; if negative, its key in `_held`."""
        self._file: IO[bytes] | None = None
        self._end = 0

    def append(self, value: T) -> None:
        """Add a value at the end."""
        self._offsets.append(self._put(value))

    def extend(self, values: Iterable[T]) -> Self:
        """Add values at the end, and return the sequence."""
        for value in values:
            self.append(value)
        return self

    def replace(self, place: int, value: T) -> None:
        """Put another value in a place."""
        self._held.pop(self._offsets[place], None)
        self._offsets[place] = self._put(value)

    def reorder(self, order: Iterable[int]) -> None:
        """Put the values into another order, given by their places until now."""
        self._offsets = array("q", (self._offsets[place] for place in order))

    def is_resident(self, place: int) -> bool:
        """Return whether the value at a place is in memory."""
        return self._offsets[place] < 0

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[T]:
        return map(self.value_at, range(len(self)))

    def _put(self, value: T) -> int:
        """Keep a value and return its offset."""
        if len(self._held) < self.resident:
            self._given += 1
            self._held[-self._given] = value
            return -self._given
        written = pack(value)
        file = self._opened()
        file.seek(self._end)
        file.write(len(written).to_bytes(_LENGTH))
        file.write(written)
        offset = self._end
        self._end += _LENGTH + len(written)
        return offset

    def value_at(self, place: int) -> T:
        """Return the value at a place, from the file where it is not in memory."""
        offset = self._offsets[place]
        if offset < 0:
            return self._held[offset]
        file = self._opened()
        file.seek(offset)
        result: T = unpack(file.read(int.from_bytes(file.read(_LENGTH))))
        return result

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="xlareport-", dir=self.folder)  # noqa: SIM115 - lives as long as the values
            weakref.finalize(self, self._file.close)
        return self._file


class FilledValues(SpooledValues[T], Generic[T]):
    """Values that one process puts into a file by name, for another process to take over."""

    def __init__(self, path: Path) -> None:
        super().__init__(resident=0)
        self._path = path

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process; all values are in the file by then."""
        if self._file is not None:
            self._file.flush()
        return {**self.__dict__, "_file": None}

    def take_over(self) -> Self:
        """Open the file and remove its name: it ends with this process."""
        if len(self):
            self._opened()
            self._path.unlink()
        return self

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._file = self._path.open("r+b" if self._end else "w+b")
            weakref.finalize(self, self._file.close)
        return self._file
