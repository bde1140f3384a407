"""Values in the order in which they were added; beyond the first few they are in a file.

The file has no name and ends with the process, however that ends. What comes out of it was put in
by this process.
"""

import pickle
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Generic, Self, TypeVar, overload

import zstandard

T = TypeVar("T")

RESIDENT = 256
"""Values of a sequence that stay in memory; most dumps have fewer modules."""
_LEVEL = 1


class SpooledValues(Sequence[T], Generic[T]):
    """A sequence that grows at its end; a value may be replaced.

    Appending raises OSError where the disk is full. A value that is read twice may be two objects.
    """

    def __init__(self, folder: Path | None = None, resident: int | None = None) -> None:
        """Keep up to `resident` values in memory; the file is made in `folder` if it is needed."""
        self._folder = folder
        self._resident = RESIDENT if resident is None else resident
        self._places: list[Any] = []
        """Of each value itself in a tuple, or its offset and its length in the file."""
        self._in_memory = 0
        self._file: IO[bytes] | None = None
        self._end = 0

    def append(self, value: T) -> None:
        """Add a value at the end."""
        self._places.append(self._put(value))

    def extend(self, values: Iterable[T]) -> Self:
        """Add values at the end, and return the sequence."""
        for value in values:
            self.append(value)
        return self

    def replace(self, place: int, value: T) -> None:
        """Put another value in a place."""
        self._in_memory -= len(self._places[place]) == 1
        self._places[place] = self._put(value)

    def reorder(self, order: Iterable[int]) -> None:
        """Put the values into another order, given by their places until now."""
        self._places = [self._places[place] for place in order]

    def is_resident(self, place: int) -> bool:
        """Return whether the value at a place is in memory."""
        return len(self._places[place]) == 1

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            return [self._get(number) for number in self._places[place]]
        return self._get(self._places[place])

    def __iter__(self) -> Iterator[T]:
        return map(self._get, self._places)

    def _put(self, value: T) -> tuple[Any, ...]:
        if self._in_memory < self._resident:
            self._in_memory += 1
            return (value,)
        written = zstandard.ZstdCompressor(level=_LEVEL).compress(pickle.dumps(value, 5))
        file = self._opened()
        file.seek(self._end)
        file.write(written)
        place = self._end, len(written)
        self._end += len(written)
        return place

    def _get(self, place: tuple[Any, ...]) -> T:
        if len(place) == 1:
            value: T = place[0]
            return value
        file = self._opened()
        file.seek(place[0])
        written = file.read(place[1])
        result: T = pickle.loads(zstandard.ZstdDecompressor().decompress(written))  # noqa: S301 - what this process wrote into a file that no other can open by name
        return result

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="xlareport-", dir=self._folder)  # noqa: SIM115 - lives as long as the values
            weakref.finalize(self, self._file.close)
        return self._file
