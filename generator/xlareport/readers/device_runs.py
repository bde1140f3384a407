"""Which run of which module a device was in, where only the time tells."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import islice
from typing import TypeAlias

DeviceRun: TypeAlias = tuple[int, int, str, str]
"""When it began and ended, the module, the run."""
_MOST = 500_000
"""Runs of a device; what comes later belongs to none."""


class DeviceRuns:
    """The runs of modules on a device, one after the other."""

    def __init__(self, runs: Iterable[DeviceRun]) -> None:
        self._runs = sorted(islice(runs, _MOST))
        self._starts = [start for start, _, _, _ in self._runs]

    def at(self, moment: int) -> tuple[str, str]:
        """Return module and run at a moment; both empty where none ran."""
        place = bisect_right(self._starts, moment) - 1
        if place < 0 or moment >= self._runs[place][1]:
            return "", ""
        return self._runs[place][2:]
