"""The paths that a build writes, in a table on disk: a site of many modules has very many.

The table is a file of SQLite in the folder where a build is put together, and goes with it.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

_TABLE = "CREATE TABLE paths (path TEXT PRIMARY KEY, former INTEGER, fresh INTEGER) WITHOUT ROWID"
_FORMER = "INSERT OR IGNORE INTO paths VALUES (?, 1, 0)"
_FRESH = "INSERT INTO paths VALUES (?, 0, 1) ON CONFLICT (path) DO UPDATE SET fresh = 1"


class WrittenPaths:
    """Paths of the former build and of this one."""

    def __init__(self, table: sqlite3.Connection, former: Iterable[str]) -> None:
        self._table = table
        table.execute("PRAGMA synchronous = OFF")
        table.execute("PRAGMA journal_mode = OFF")
        table.execute("PRAGMA cache_size = -500")  # of KiB
        table.execute(_TABLE)
        table.execute("BEGIN")
        table.executemany(_FORMER, ((path,) for path in former))

    def is_former(self, path: str) -> bool:
        """Return whether the former build wrote a path."""
        return self._known(path)[0]

    def is_fresh(self, path: str) -> bool:
        """Return whether this build has written a path."""
        return self._known(path)[1]

    def add(self, path: str) -> None:
        """Note that this build writes a path."""
        self._table.execute(_FRESH, (path,))

    def stale(self) -> Iterator[str]:
        """Yield the paths of the former build that this one did not write, in order."""
        return self._some("former AND NOT fresh")

    def fresh(self) -> Iterator[str]:
        """Yield the paths that this build wrote, in order."""
        return self._some("fresh")

    def every(self) -> Iterator[str]:
        """Yield the paths of both builds, in order."""
        return self._some("former OR fresh")

    def _known(self, path: str) -> tuple[bool, bool]:
        row = self._table.execute(
            "SELECT former, fresh FROM paths WHERE path = ?", (path,)
        ).fetchone()
        return (False, False) if row is None else (bool(row[0]), bool(row[1]))

    def _some(self, which: str) -> Iterator[str]:
        rows = self._table.execute(f"SELECT path FROM paths WHERE {which} ORDER BY path")  # noqa: S608 - one of three of ours
        return (path for (path,) in rows)


@contextmanager
def written_paths(folder: Path, former: Iterable[str]) -> Iterator[WrittenPaths]:
    """Yield a table of paths in a folder; raises OSError where it cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with closing(sqlite3.connect(folder / "paths", isolation_level=None)) as table:
            yield WrittenPaths(table, former)
    except sqlite3.Error as error:
        raise OSError(f"{folder / 'paths'}: {error}") from error
