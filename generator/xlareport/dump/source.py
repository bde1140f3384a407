"""Where a dump comes from: a directory, an archive, one file, a captured log, a report.

Whatever it comes from, a `Source` is a list of entries, each a path inside the dump and a real file
that holds its bytes. Archives and captured logs are spooled into a private temporary folder under
numbers, so that no name of theirs ever becomes a path of this machine.
"""

import errno
import os
import stat
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from xlareport.dump import archive, log, single_file, site
from xlareport.dump.spool import Limits, Spool
from xlareport.errors import Problem, UnreadableInputError

LARGEST = 1 << 31
"""Bytes of a file that is read; protos cannot be larger, and a file is held whole."""
_LATEST = 1 << 36
"""Seconds since the epoch; what a file says of a later moment, or of none, is not believed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a dump: its path inside the dump and where its bytes are."""

    path: str
    """Relative to the dump, with `/`; a file in a log is `stdout.log/NAME`."""
    size: int
    modified: float | None
    """Seconds since the epoch; None where the source does not tell."""
    location: Path

    def read(self) -> bytes:
        """Return the whole content; raises OSError, also where it is too large to be held."""
        with self.location.open("rb") as file:
            if os.fstat(file.fileno()).st_size > LARGEST:
                raise OSError(errno.EFBIG, f"it has more than {LARGEST:,} bytes")
            return file.read()

    def head(self) -> bytes:
        """Return how the content begins, up to 4 KiB; empty where it cannot be read."""
        try:
            with self.location.open("rb") as file:
                return file.read(4096)
        except OSError:
            return b""


@dataclass(frozen=True, slots=True)
class Source:
    """Everything that a dump holds, in the order of its paths."""

    name: str
    """As the user gave it."""
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...] = ()


@contextmanager
def open_source(path: Path, limits: Limits | None = None) -> Iterator[Source]:
    """Open a dump; spooled files live as long as the context. Raises UnreadableInputError."""
    with tempfile.TemporaryDirectory(prefix="xlareport-") as folder:
        spool = Spool(Path(folder), limits or Limits())
        problems: list[Problem] = []
        try:
            entries = list(_entries(path, spool, problems))
            entries = list(_texts_of_site(entries, spool, problems)) or entries
        except OSError as error:
            raise UnreadableInputError(f"{path} cannot be read: {error.strerror}.") from error
        if not entries:
            raise UnreadableInputError(
                f"{path} holds no readable file; name the directory given to --xla_dump_to."
            )
        entries.sort(key=lambda entry: entry.path)
        entries = list(_told_apart(entries, problems))
        yield Source(str(path), tuple(entries), tuple(problems))


def _texts_of_site(
    entries: Sequence[Entry], spool: Spool, problems: list[Problem]
) -> Iterator[Entry]:
    """Yield what a report carries of its dump; nothing where the entries are no report."""
    scripts = {one.path: one.location for one in entries}
    for index in site.index_scripts(list(scripts)):
        texts = site.restored(index, scripts, spool, problems)
        yield from _spooled((archive.inside(path), place, then) for path, place, then in texts)


def _told_apart(entries: Iterable[Entry], problems: list[Problem]) -> Iterator[Entry]:
    """Give further files of one path, as an archive can hold, a folder: `(2)/PATH`."""
    seen: Counter[str] = Counter()
    for entry in entries:
        seen[entry.path] += 1
        number = seen[entry.path]
        if number == 1:
            yield entry
            continue
        problems.append(Problem(entry.path, None, f"There are {number} files of this path."))
        yield replace(entry, path=f"({number})/{entry.path}")


def _entries(path: Path, spool: Spool, problems: list[Problem]) -> Iterator[Entry]:
    if not path.exists():
        raise UnreadableInputError(
            f"{path} does not exist; name a directory, an archive or a file."
        )
    if path.is_dir():
        found = _walk(path, path, problems)
    elif archive.is_archive(path):
        found = _spooled(archive.members(path, spool, problems))
    elif single_file.is_single_file(path):
        found = _spooled(single_file.members(path, spool, problems))
    elif path.is_file():
        found = iter([_entry(path, path.name, path.stat())])
    else:
        raise UnreadableInputError(f"{path} is neither a directory nor a regular file.")
    for entry in found:
        yield entry
        if log.may_hold_frames(entry.path):
            yield from _spooled(log.frames(entry.location, entry.path, spool, problems))


def _spooled(files: Iterator[tuple[str, Path, float | None]]) -> Iterator[Entry]:
    for name, location, modified in files:
        known = modified if modified is not None and 0 <= modified < _LATEST else None
        yield Entry(name, location.stat().st_size, known, location)


def _walk(root: Path, folder: Path, problems: list[Problem]) -> Iterator[Entry]:
    """List regular files below a folder; links that lead out of the dump are not followed."""
    pending = [folder]
    while pending:
        current = pending.pop()
        for child in _children(root, current, problems):
            name = printable(child.relative_to(root).as_posix())
            try:
                status = child.lstat()
                if stat.S_ISLNK(status.st_mode):
                    status = _linked_file(root, child)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                problems.append(Problem(name, None, f"Not read: {reason}."))
                continue
            if stat.S_ISDIR(status.st_mode):
                pending.append(child)
            elif stat.S_ISREG(status.st_mode):
                yield _entry(child, name, status)
            else:
                problems.append(Problem(name, None, "Not read: it is not a regular file."))


def _children(root: Path, folder: Path, problems: list[Problem]) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        name = printable(folder.relative_to(root).as_posix())
        problems.append(Problem(name, None, f"This folder cannot be listed: {error.strerror}."))
        return []


def _linked_file(root: Path, link: Path) -> os.stat_result:
    target = Path(os.path.realpath(link, strict=True))
    if not target.is_relative_to(root.resolve()):
        raise ValueError("it is a link that leads out of the dump")
    if target.is_dir():
        raise ValueError("it is a link to a folder")
    return target.stat()


def _entry(location: Path, name: str, status: os.stat_result) -> Entry:
    return Entry(printable(name), status.st_size, status.st_mtime, location)


def printable(name: str) -> str:
    """Return a name that can be written as UTF-8; bytes that cannot are written out."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
