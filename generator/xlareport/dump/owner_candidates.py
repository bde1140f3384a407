"""To which modules a file can belong whose name lost the module's name or its timestamp.

Thousands of modules can share an id, so nothing here goes through all of them for each file.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from xlareport.dump.filename import DumpName, sanitised

LONGEST_NAME = 255
"""Bytes in a file name; XLA writes a longer one without the module's name."""

SNAPSHOTS = frozenset({"hlo-text", "hlo-proto", "hlo-dot", "hlo-html", "hlo-url", "hlo-riegeli"})
_NEVER_NAMED = frozenset({"pass-metadata"})

_Key = tuple[str, int | None]
"""A module's name ('' where there is none) and its timestamp."""


class Homes:
    """The modules of one folder and id, each shown by its snapshots."""

    def __init__(self, snapshots: Iterable[DumpName]) -> None:
        self._prefixes: dict[_Key, str] = {}
        for one in snapshots:
            key, prefix = _key(one), one.module_prefix or ""
            self._prefixes[key] = min(self._prefixes.get(key, prefix), prefix)
        self._by_name: dict[str, set[str]] = defaultdict(set)
        self._by_time: dict[int | None, list[_Key]] = defaultdict(list)
        for name, timestamp in self._prefixes:
            self._by_name[name].add(self._prefixes[name, timestamp])
            self._by_time[timestamp].append((name, timestamp))
        self._asked: dict[tuple[int | None, int], frozenset[str]] = {}

    def of(self, one: DumpName, path: str) -> frozenset[str]:
        """Return the prefixes of the modules that a file can belong to."""
        name, timestamp = _key(one)
        found = {self._prefixes[name, timestamp]} if (name, timestamp) in self._prefixes else set()
        if timestamp is None and one.kind not in SNAPSHOTS:
            found |= self._by_name.get(name, set())
        if name:
            return frozenset(found)
        lost = self._longer(timestamp, _shortest_lost(one, path))
        return lost.union(found) if found else lost

    def may_have_lost(self, one: DumpName, path: str) -> bool:
        """Say whether a file without a module's name may be without it for its length."""
        return bool(self._longer(one.timestamp, _shortest_lost(one, path)))

    def _longer(self, timestamp: int | None, shortest: int) -> frozenset[str]:
        """Return the modules of a moment, or of any, whose names have at least so many letters."""
        question = timestamp, shortest
        if question not in self._asked:
            among: Sequence[_Key] = (
                list(self._prefixes) if timestamp is None else self._by_time.get(timestamp, [])
            )
            found = (self._prefixes[key] for key in among if key[0] and len(key[0]) >= shortest)
            self._asked[question] = frozenset(found)
        return self._asked[question]


def _key(one: DumpName) -> _Key:
    return sanitised(one.module_name or ""), one.timestamp


def _shortest_lost(one: DumpName, path: str) -> int:
    return 0 if one.kind in _NEVER_NAMED else shortest_lost(path)


def shortest_lost(path: str) -> int:
    """Return from how many letters on XLA leaves a module's name out of the name of such a file."""
    file_name = path.rpartition("/")[2]
    return max(0, LONGEST_NAME - len(file_name.encode(errors="surrogateescape")))
