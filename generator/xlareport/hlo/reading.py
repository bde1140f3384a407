"""What all readers of snapshots share: equal files are read once, problems name their file."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xlareport.hlo.model import HloModule
from xlareport.hlo.repeated import NamesOnce
from xlareport.runtime.errors import Problem
from xlareport.runtime.garbage_collection import no_collections

MAX_PROBLEMS = 100
"""Problems listed for one file; the last one says how many more there are."""


@dataclass(frozen=True, slots=True)
class SnapshotReading:
    """What a file gave; its problems name no path, for an equal file may have another."""

    module: HloModule | None
    problems: tuple[Problem, ...] = ()


_EMPTY = SnapshotReading(None, (Problem("", None, "the file is empty"),))


class SnapshotReader(ABC):
    """Reads files that belong together: what is equal in them is one object."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        # Python's hash has 64 bits and a key of its own in each process: chance does not find two
        # files with the same, and nobody can aim at it.
        self._known: dict[tuple[int, int], SnapshotReading] = {}
        self._last = (b"", _EMPTY)
        self._names = NamesOnce()

    def read(self, data: bytes, path: str) -> HloModule | None:
        """Read one file; None where it holds no module. What is wrong is added to `problems`."""
        # Equal files mostly follow one another, and comparing is faster than hashing.
        if data != self._last[0]:
            self._last = (data, self._reading(data))
        reading = self._last[1]
        self.problems += (replace(problem, path=path) for problem in reading.problems)
        return reading.module

    def _reading(self, data: bytes) -> SnapshotReading:
        key = (len(data), hash(data))
        known = self._known.get(key)
        if known is None:
            with no_collections():
                known = self._with_own_names(self._read(data)) if data.strip() else _EMPTY
            self._known[key] = known
        return known

    def _with_own_names(self, reading: SnapshotReading) -> SnapshotReading:
        if reading.module is None:
            return reading
        module, problems = self._names.apply(reading.module)
        return SnapshotReading(module, limited([*reading.problems, *problems]))

    @abstractmethod
    def _read(self, data: bytes) -> SnapshotReading:
        """Read a file that was not seen before; never raises."""


def limited(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the first problems; the last one says how many more there are."""
    if len(problems) <= MAX_PROBLEMS:
        return tuple(problems)
    more = len(problems) - MAX_PROBLEMS + 1
    last = replace(problems[MAX_PROBLEMS - 1], message=f"{more} more problems from here on")
    return (*problems[: MAX_PROBLEMS - 1], last)
