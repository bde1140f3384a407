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
        for snapshot in snapshots:
            key, prefix = _key(snapshot), snapshot.module_prefix or ""
            self._prefixes[key] = min(self._prefixes.get(key, prefix), prefix)
        self._by_name: dict[str, set[str]] = defaultdict(set)
        self._by_time: dict[int | None, list[_Key]] = defaultdict(list)
        for name, timestamp in self._prefixes:
            self._by_name[name].add(self._prefixes[name, timestamp])
            self._by_time[timestamp].append((name, timestamp))
        self._asked: dict[tuple[int | None, int], frozenset[str]] = {}

    def of(self, this_name: DumpName, path: str) -> frozenset[str]:
        """Return the prefixes of the modules that a file can belong to."""
        name, timestamp = _key(this_name)
        result = {self._prefixes[name, timestamp]} if (name, timestamp) in self._prefixes else set()
        if timestamp is None and this_name.kind not in SNAPSHOTS:
            result |= self._by_name.get(name, set())
        if name:
            return frozenset(result)
        lost = self._longer(timestamp, _shortest_lost(this_name, path))
        return lost.union(result) if result else lost

    def may_have_lost(self, name: DumpName, path: str) -> bool:
        """Say whether a file without a module's name may be without it for its length."""
        return bool(self._longer(name.timestamp, _shortest_lost(name, path)))

    def _longer(self, timestamp: int | None, shortest: int) -> frozenset[str]:
        """Return the modules of a moment, or of any, whose names have at least so many letters."""
        question = timestamp, shortest
        if question not in self._asked:
            among: Sequence[_Key] = (
                list(self._prefixes) if timestamp is None else self._by_time.get(timestamp, [])
            )
            result = (self._prefixes[key] for key in among if key[0] and len(key[0]) >= shortest)
            self._asked[question] = frozenset(result)
        return self._asked[question]


def _key(name: DumpName) -> _Key:
    return sanitised(name.module_name or ""), name.timestamp


def _shortest_lost(name: DumpName, path: str) -> int:
    return 0 if name.kind in _NEVER_NAMED else shortest_lost(path)


def shortest_lost(path: str) -> int:
    """Return from how many letters on XLA leaves a module's name out of the name of such a file."""
    file_name = path.rpartition("/")[2]
    return max(0, LONGEST_NAME - len(file_name.encode(errors="surrogateescape")))
