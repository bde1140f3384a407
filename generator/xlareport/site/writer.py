"""Writes the sources of the site: aside first, then all at once, and only what changed.

The written paths are in a table on disk: a site of many modules has very many. It is a file of
SQLite in the folder where a build is put together, and goes with it.
"""

import filecmp
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path, PurePosixPath
from stat import S_ISREG

from xlareport.runtime.resources import find_resource
from xlareport.site.folder import Folder, ForeignFileError
from xlareport.storage.payloads import LongText, SiteFile

_TABLE = "CREATE TABLE paths (path TEXT PRIMARY KEY, former INTEGER, fresh INTEGER) WITHOUT ROWID"
_FORMER = "INSERT OR IGNORE INTO paths VALUES (?, 1, 0)"
_FRESH = "INSERT INTO paths VALUES (?, 0, 1) ON CONFLICT (path) DO UPDATE SET fresh = 1"
_OUTSIDE = re.compile(r"""(?:\A|/)(?:[./]|\Z)|[\\:*?"<>|\x00-\x1f]""")
"""What a plain path has not: a part that is empty or begins with a dot, a special character."""


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


def accept_all(name: str) -> bool:
    """Take all that is hand-written."""
    return bool(name)


def write_sources(
    out: Path,
    files: Iterable[SiteFile],
    hand_written: Callable[[str], bool] = accept_all,
    title: str | None = None,
) -> None:
    """Replace the files of an earlier build in OUT with `files` and the hand-written pages.

    Of the hand-written pages, only names that `hand_written` accepts are used. `title` is for a
    site that has no settings of its own yet.

    Files are written one at a time and not kept in memory. Every error occurs before the first page
    of the earlier report is changed.
    """
    folder = Folder(out)
    folder.prepare()
    fresh = folder.aside / "sources"
    try:
        with written_paths(folder.aside, _read_manifest(folder)) as paths:
            folders = folder.sources, fresh
            for path, content in chain(_hand_written(folder, hand_written), files):
                _check(path, paths)
                paths.add(path)
                _write_aside(folders, path, content, paths)
            _put_in_place(folder, fresh, paths)
        folder.settle(title)
    finally:
        shutil.rmtree(folder.aside, ignore_errors=True)


def is_inside(path: str) -> bool:
    """Return whether `path` is a plain relative path that cannot lead out of its folder."""
    return _OUTSIDE.search(path) is None


def _check(path: str, paths: WrittenPaths) -> None:
    if not is_inside(path):
        raise ValueError(f"This is no path inside the site: {path!r}.")
    if paths.is_fresh(path):
        raise ValueError(f"Two pages have the same path: {path!r}.")


def _write_aside(
    folders: tuple[Path, Path], path: str, content: str | bytes | LongText, paths: WrittenPaths
) -> None:
    """Write one file aside, unless its place already holds the same bytes.

    `folders` are those of its place and of what is written aside.
    """
    if isinstance(content, LongText):
        place, aside = (folder / path for folder in folders)
        _write_parts(aside, content)
        if place.is_file() and filecmp.cmp(place, aside, shallow=False):
            aside.unlink()
            return
        _check_own(place, path, paths)
        return
    encoded = content.encode() if isinstance(content, str) else content
    if not _holds(f"{folders[0]}{os.sep}{path}", encoded):  # no Path: most files are the same
        _check_own(folders[0] / path, path, paths)
        _write(folders[1] / path, encoded)


def _check_own(place: Path, path: str, paths: WrittenPaths) -> None:
    if place.exists() and not paths.is_former(path):
        raise ForeignFileError(place)


def _write_parts(path: Path, content: LongText) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(content.parts)


def _put_in_place(folder: Folder, fresh: Path, paths: WrittenPaths) -> None:
    """Move all in place; the manifest names every file before the file is written."""
    _write_manifest(folder, paths.every())
    for path in paths.stale():
        _remove(folder, path)
    for source, inner, names in os.walk(fresh):
        place = folder.sources / Path(source).relative_to(fresh)
        if not place.exists():  # as all do at the first build
            Path(source).replace(place)
            inner.clear()
            continue
        for name in names:
            (Path(source) / name).replace(place / name)
    _write_manifest(folder, paths.fresh())


def _remove(folder: Folder, path: str) -> None:
    """Remove a stale file, and the folders that it leaves empty."""
    (folder.sources / path).unlink(missing_ok=True)
    for parent in PurePosixPath(path).parents[:-1]:
        place = folder.sources / parent
        if not place.is_dir() or any(place.iterdir()):
            return
        place.rmdir()


def _hand_written(folder: Folder, wanted: Callable[[str], bool]) -> Iterator[SiteFile]:
    """Yield the pages and assets that come with xlareport; a checkout holds them already."""
    origin = find_resource("site_src")
    if folder.sources.resolve() == origin.resolve():
        return
    generated = set(_read_manifest(Folder(origin.parent)))
    for path in sorted(origin.rglob("*")):
        name = path.relative_to(origin).as_posix()
        if path.is_file() and wanted(name) and name not in generated and is_inside(name):
            yield name, path.read_bytes()


def _read_manifest(folder: Folder) -> Iterator[str]:
    if folder.manifest.exists():
        with folder.manifest.open(encoding="utf-8", errors="replace") as lines:
            yield from filter(is_inside, (line.rstrip("\n") for line in lines))


def _write_manifest(folder: Folder, paths: Iterable[str]) -> None:
    aside = folder.aside / "manifest"
    with aside.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{path}\n" for path in paths)
    if not (folder.manifest.is_file() and filecmp.cmp(aside, folder.manifest, shallow=False)):
        folder.sources.mkdir(parents=True, exist_ok=True)
        aside.replace(folder.manifest)


def _holds(path: str, data: bytes) -> bool:
    try:
        status = os.stat(path)  # noqa: PTH116 - very many files
        if not S_ISREG(status.st_mode) or status.st_size != len(data):
            return False
        with open(path, "rb", 0) as file:  # noqa: PTH123 - very many files
            return file.read() == data
    except OSError:
        return False


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
