"""Where a dump comes from: a directory, an archive, one file, a captured log, a report.

A `Source` is always a list of entries, each a path inside the dump and a real file with its bytes.
Archives and captured logs are unpacked into a private temporary folder under numbers, so that no
name in them becomes a path of this machine.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import chain, groupby
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from xlareport.dump import archive, built_site, log, remote
from xlareport.dump.spool import Spool
from xlareport.dump.standard_input import take_standard_input
from xlareport.runtime.errors import Problem, UnreadableInputError, error_reason
from xlareport.runtime.limits import LIMITS, LimitPassedError, Limits, too_large
from xlareport.runtime.regular_file import open_regular
from xlareport.storage.sorted_values import sort_values
from xlareport.storage.value_blocks import keep_blocks

MANY_FILES = 10_000
"""Number of files from which facts about them are stored on disk."""

_STANDARD_INPUT = "-"
"""Command line argument for standard input."""
_BEGINNING = 4096
"""Bytes by which a file is known."""


_LATEST_TIME = 1 << 36
"""Seconds since the epoch; later file times are ignored as invalid."""


class Entry(Struct, frozen=True):
    """A file of a dump: its path inside the dump and the location of its bytes."""

    path: str
    """Relative to the dump, with `/`; a file in a log is `stdout.log/NAME`."""
    size: int
    modified: float | None
    """Seconds since the epoch; None if unknown."""
    place: Path
    """The file; with `is_below` the folder below which it is by its path, which all files share."""
    most: int = LIMITS.file_bytes
    """Bytes; a larger file is not read."""
    stored: remote.RemoteFile | None = None
    """Where it is read from, where it is on another machine."""
    is_below: bool = False

    @property
    def location(self) -> Path:
        """Where its bytes are on this machine."""
        return self.place / self.path if self.is_below else self.place

    def read(self) -> bytes:
        """Return the whole content as it is now; raises OSError, also where it is too large."""
        if self.stored is not None:
            return self.stored.read(self.most)
        descriptor, status = open_regular(self.location)
        with os.fdopen(descriptor, "rb") as file:
            if status.st_size > self.most:
                raise OSError(errno.EFBIG, too_large(self.most, "--max-file-size"))
            return file.read(status.st_size)  # a program that still runs may write on

    def head(self) -> bytes:
        """Return how the content begins, up to 4 KiB; empty where it cannot be read."""
        try:
            if self.stored is not None:
                return self.stored.head(_BEGINNING)
            descriptor, _ = open_regular(self.location)
            with os.fdopen(descriptor, "rb") as file:
                return file.read(_BEGINNING)
        except OSError:
            return b""

    def open(self) -> IO[bytes]:
        """Open the file; one of another machine is read whole. Raises OSError."""
        return self.location.open("rb") if self.stored is None else BytesIO(self.read())


class Source(Struct, frozen=True):
    """The files of a dump, sorted by path."""

    name: str
    """As the user gave it."""
    entries: Sequence[Entry]
    problems: tuple[Problem, ...] = ()
    location: Path | None = None
    """Its path on this machine; None for a URL or standard input."""


class OpenedFiles(Struct, frozen=True):
    """The files at a place, without the restored texts of a report."""

    source: Source
    spool: Spool

    @property
    def scripts(self) -> Mapping[str, Path]:
        """The files by their paths."""
        return {entry.path: entry.location for entry in self.source.entries}

    def restored(self) -> Source:
        """Return the dump: of a report, all texts that it carries; raises UnreadableInputError."""
        name, problems = self.source.name, list(self.source.problems)
        with _readable(name):
            texts = _sorted(_up_to_limit(self._texts(problems), name, problems), self.spool)
            entries = keep_entries(_with_unique_paths(texts, problems), self.spool.folder)
            if not entries:
                same = _with_unique_paths(self.source.entries, problems)
                entries = keep_entries(same, self.spool.folder)
        if not entries:
            raise UnreadableInputError(f"{name} holds no readable file; {_why(problems)}")
        return replace(self.source, entries=entries, problems=tuple(problems))

    def _texts(self, problems: list[Problem]) -> Iterator[Entry]:
        """Yield the dump's texts that a report contains; none if the files are no report."""
        indexes = built_site.index_scripts(entry.path for entry in self.source.entries)
        scripts = self.scripts if indexes else {}
        for index in indexes:
            yield from _spooled(built_site.restored(index, scripts, self.spool, problems))

    def restore_some(self, index: str, wanted: Collection[str]) -> Mapping[str, Entry]:
        """Return some texts of one module of a report, by their paths, without unreadable ones.

        `index` is the script that lists its texts.
        """
        texts = built_site.restored(index, self.scripts, self.spool, [], wanted)
        entries = _up_to_limit(_spooled(texts), self.source.name, [])
        most = self.spool.limits.file_bytes
        return {entry.path: replace(entry, most=most) for entry in entries}


@contextmanager
def open_files(
    place: str | Path, limits: Limits = LIMITS, *, in_place: bool = False
) -> Iterator[OpenedFiles]:
    """Open what `open_source` opens, and restore nothing of a report. Raises UnreadableInputError.

    What is spooled lives as long as the context.
    """
    with tempfile.TemporaryDirectory(prefix="xlareport-") as folder:
        spool = Spool(Path(folder), limits)
        problems: list[Problem] = []
        name = _dump_name(place)
        with _readable(name):
            listed = _listed_in_place(place, spool, problems) if in_place else None
            every = _entries(place, spool, problems) if listed is None else iter(listed)
            ordered = _sorted(_up_to_limit(every, name, problems), spool)
            entries = keep_entries(ordered, spool.folder)
        yield OpenedFiles(Source(name, entries, tuple(problems), local_path(place)), spool)


@contextmanager
def open_source(
    place: str | Path, limits: Limits = LIMITS, *, in_place: bool = False
) -> Iterator[Source]:
    """Open a dump at a path or URL, or `-` for standard input. Raises UnreadableInputError.

    What is spooled lives as long as the context. `in_place` leaves the files of a folder of
    another machine there until somebody reads them, who may be on a third machine.
    """
    with open_files(place, limits, in_place=in_place) as opened:
        yield opened.restored()


def _listed_in_place(
    place: str | Path, spool: Spool, problems: list[Problem]
) -> list[Entry] | None:
    """Return the files of a folder of another machine; None for anything else, and for a report."""
    if local_path(place) is not None or place == _STANDARD_INPUT:
        return None
    files = remote.list_remote(str(place), spool, problems)
    if files is None or built_site.index_scripts([file.path for file in files]):
        return None
    entries = [Entry(file.path, file.size, file.modified, Path(), stored=file) for file in files]
    framed = [entry for entry in entries if log.may_hold_frames(entry.path)]
    return entries + [
        remote_frame for entry in framed for remote_frame in _remote_frames(entry, spool, problems)
    ]


def _remote_frames(entry: Entry, spool: Spool, problems: list[Problem]) -> Iterator[Entry]:
    try:
        location = spool.keep([entry.read()])
    except OSError:  # whoever reads the log says so
        return
    yield from _spooled(log.frames(location, entry.path, spool, problems))


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnreadableInputError(f"{name} cannot be read: {error_reason(error)}.") from error


def local_path(place: str | Path) -> Path | None:
    """Return the path of a dump on this machine; None for another machine or standard input."""
    if isinstance(place, Path):
        return place
    if place == _STANDARD_INPUT:
        return None
    if place.lower().startswith("file://"):
        from urllib.request import url2pathname  # noqa: PLC0415 - brings all of HTTP along

        return Path(url2pathname(urlsplit(place).path))
    return None if remote.is_url(place) else Path(place)


def _dump_name(place: str | Path) -> str:
    """Return the dump's name for a report."""
    if place == _STANDARD_INPUT:
        return "standard input"
    return str(local_path(place) or remote.shown(str(place)))


def _why(problems: Sequence[Problem]) -> str:
    if not problems:
        return "name the directory given to --xla_dump_to."
    more = f" And {len(problems) - 1:,} more problems." if len(problems) > 1 else ""
    return f"{problems[0].path}: {problems[0].message}{more}"


def _up_to_limit(entries: Iterator[Entry], name: str, problems: list[Problem]) -> Iterator[Entry]:
    """Yield entries up to the limits; files beyond them become a problem."""
    read = 0
    try:
        for entry in entries:
            read += 1
            yield entry
    except LimitPassedError as error:
        text = f"Only the first {read:,} files are read: {error}."
        problems.append(Problem(name, None, text))


def _with_unique_paths(entries: Iterable[Entry], problems: list[Problem]) -> Iterator[Entry]:
    """Yield entries with unique paths: repeated paths in an archive get a folder, `(2)/PATH`.

    Entries with the same path are adjacent.
    """
    for _, same in groupby(entries, key=lambda entry: entry.path):
        for number, entry in enumerate(same, 1):
            if number == 1:
                yield entry
                continue
            problems.append(Problem(entry.path, None, f"There are {number} files of this path."))
            path = f"({number})/{entry.path}"
            yield replace(entry, path=path, place=entry.location, is_below=False)


def _sorted(entries: Iterable[Entry], spool: Spool) -> Iterator[Entry]:
    """Yield entries by their paths; each is read as far as the limits say."""
    most = spool.limits.file_bytes
    limited = (entry if entry.most == most else replace(entry, most=most) for entry in entries)
    return sort_values(limited, lambda entry: entry.path, spool.folder)


def keep_entries(entries: Iterable[Entry], folder: Path) -> Sequence[Entry]:
    """Return entries; if there are many, most of them are in a file in a folder."""
    return keep_blocks(entries, folder, MANY_FILES)


def _entries(place: str | Path, spool: Spool, problems: list[Problem]) -> Iterator[Entry]:
    for entry in _files(place, spool, problems):
        yield entry
        if log.may_hold_frames(entry.path):
            yield from _spooled(log.frames(entry.location, entry.path, spool, problems))


def _files(place: str | Path, spool: Spool, problems: list[Problem]) -> Iterator[Entry]:
    path = local_path(place)
    if path is not None:
        return _local(path, spool, problems)
    if place == _STANDARD_INPUT:
        name, location = take_standard_input(spool)
        return _of_file(location, name, None, spool, problems)
    return _fetched(str(place), spool, problems)


def _local(path: Path, spool: Spool, problems: list[Problem]) -> Iterator[Entry]:
    if not path.exists():
        raise UnreadableInputError(
            f"{path} does not exist; name a directory, an archive or a file."
        )
    if path.is_dir():
        return _walk(path, spool, problems)
    if path.is_file():
        return _of_file(path, path.name, path.stat().st_mtime, spool, problems)
    raise UnreadableInputError(
        f"{path} is neither a directory nor a regular file; what comes through a pipe is read from "
        "standard input, under the name `-`."
    )


def _fetched(url: str, spool: Spool, problems: list[Problem]) -> Iterator[Entry]:
    """Yield the entries of a folder on another machine, or those in its only file."""
    files = remote.fetched(url, spool, problems)
    first, second = next(files, None), next(files, None)
    if first is not None and second is None:
        name, location, modified = first
        yield from _of_file(location, name, modified, spool, problems)
    elif first is not None and second is not None:
        yield from _spooled(chain((first, second), files))


def _of_file(
    location: Path, name: str, modified: float | None, spool: Spool, problems: list[Problem]
) -> Iterator[Entry]:
    """Yield the members of an archive, the data of a report in one file, else the file itself."""
    if built_site.is_single_file(location, name):
        return _spooled(built_site.single_file_members(location, name, spool, problems))
    kind = archive.archive_kind(location, name)
    if kind is None:
        return _spooled(iter([(as_utf8(name), location, modified)]))
    return _spooled(archive.members(location, as_utf8(name), kind, spool, problems))


def _spooled(files: Iterator[tuple[str, Path, float | None]]) -> Iterator[Entry]:
    for name, location, modified in files:
        plausible = modified if modified is not None and 0 <= modified < _LATEST_TIME else None
        yield Entry(name, location.stat().st_size, plausible, location)


def _walk(root: Path, spool: Spool, problems: list[Problem]) -> Iterator[Entry]:
    """List regular files below a folder; links that lead out of the dump are not followed."""
    pending = [""]
    while pending:
        inside = pending.pop()
        for child in _children(root / inside, inside, spool, problems):
            spool.count()
            below = f"{inside}{child}"
            name = as_utf8(below)
            try:
                status = os.lstat(f"{root}{os.sep}{below}")
                if stat.S_ISLNK(status.st_mode):
                    status = _linked_file(root, root / below)
            except (OSError, ValueError) as error:
                reason = error_reason(error)
                problems.append(Problem(name, None, f"Not read: {reason}."))
                continue
            if stat.S_ISDIR(status.st_mode):
                pending.append(f"{below}/")
            elif stat.S_ISREG(status.st_mode):
                is_below = name == below
                place = root if is_below else root / below
                yield Entry(name, status.st_size, status.st_mtime, place, is_below=is_below)
            else:
                problems.append(Problem(name, None, "Not read: it is not a regular file."))


def _children(folder: Path, inside: str, spool: Spool, problems: list[Problem]) -> Iterator[str]:
    """Return the names in a folder, in order; few are in memory at a time."""
    try:
        with os.scandir(folder) as children:
            return sort_values((child.name for child in children), str, spool.folder)
    except OSError as error:
        name = as_utf8(inside.rstrip("/") or ".")
        problems.append(
            Problem(name, None, f"This folder cannot be listed: {error_reason(error)}.")
        )
        return iter(())


def _linked_file(root: Path, link: Path) -> os.stat_result:
    target = Path(os.path.realpath(link, strict=True))
    if not target.is_relative_to(root.resolve()):
        raise ValueError("it is a link that leads out of the dump")
    if target.is_dir():
        raise ValueError("it is a link to a folder")
    return target.stat()


def as_utf8(name: str) -> str:
    """Return a name that can be written as UTF-8; bytes that cannot are written out."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
