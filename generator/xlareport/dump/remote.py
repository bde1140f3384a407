"""Dumps on other machines, at a URL (`gs://`, `s3://`, `https://`), fetched by fsspec.

fsspec and its packages for each kind of address are extras; a message names missing ones.
"""

import errno
import importlib.util
import os
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import replace

from xlareport.dump.archive import inside
from xlareport.dump.spool import Spool, UnpackedFile
from xlareport.runtime.errors import Problem, UnreadableInputError, error_reason
from xlareport.runtime.limits import (
    FileTooLargeError,
    LimitPassedError,
    too_large,
    too_many_files,
)

_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://.", re.IGNORECASE)
_EXTRAS = {"gs": "gcs", "gcs": "gcs", "s3": "s3", "s3a": "s3"}
"""Extras by scheme; other schemes need `url`."""
_STORES = dict.fromkeys(("gs", "gcs"), ("STORAGE_EMULATOR_HOST", "https://storage.googleapis.com"))
"""The variable that names the address of a store, and its usual address."""
_PROXIES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
_PATIENCE = 5.0
"""Seconds that one address of a store has to answer; a store has up to twenty."""
_MOST_SECONDS = 10.0
"""Seconds that the name and all addresses of a store have together."""
_MOST_FOLDERS = 20
"""Folders in a row; a hostile server lists folders without end."""
_AT_ONCE = 8
_PAGE = re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE)

T = TypeVar("T")


class RemoteFile(Struct, frozen=True):
    """A file that stays on another machine until it is read."""

    address: str
    """With its scheme, as a new process opens it; without, in one file system."""
    path: str
    """Inside the dump."""
    size: int
    """Size in bytes; 0 if unknown."""
    modified: float | None

    def read(self, most: int) -> bytes:
        """Return the whole content; raises OSError, also where it is larger than `most` bytes."""
        if self.size > most:
            raise OSError(errno.EFBIG, too_large(most, "--max-file-size"))
        return self._read_range(None)

    def head(self, length: int) -> bytes:
        """Return how the content begins; raises OSError."""
        return self._read_range(length)

    def _read_range(self, end: int | None) -> bytes:
        system, path = _system(self.address)
        content = _attempt(lambda: system.cat_file(path, start=0 if end else None, end=end))
        if isinstance(content, Exception):
            raise OSError(errno.EIO, _message(content)) from content
        return bytes(content)


def is_url(place: str) -> bool:
    """Return whether a place is on another machine."""
    return _URL.match(place) is not None


def shown(url: str) -> str:
    """Return a URL without user, password and query: reports are shared, keys are not."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def list_remote(url: str, spool: Spool, problems: list[Problem]) -> list[RemoteFile] | None:
    """Return the files of a folder at a URL without fetching them; None for a single file.

    Raises UnreadableInputError if the URL does not exist.
    """
    system, root = _system(url)
    if urlsplit(url).scheme.lower() in ("http", "https") or not _attempt(
        lambda: system.isdir(root)
    ):
        return None
    listed = _attempt(lambda: list(_list_remote(system, root, url, spool, problems)))
    if isinstance(listed, LimitPassedError):
        raise listed
    if isinstance(listed, Exception):
        raise _unreadable(url, listed) from listed
    files = []
    for entry in listed:
        spool.count()
        files.append(replace(entry, address=str(system.unstrip_protocol(entry.address))))
    return files


def fetched(url: str, spool: Spool, problems: list[Problem]) -> Iterator[UnpackedFile]:
    """Yield (path inside, spooled file, modified) of the file or the folder at a URL.

    A file that cannot be fetched is a problem; the others are still yielded. Raises
    UnreadableInputError if the URL does not exist.
    """
    system, root = _system(url)
    listed = _attempt(lambda: list(_list_remote(system, root, url, spool, problems)))
    if isinstance(listed, LimitPassedError):
        raise listed
    if isinstance(listed, Exception):
        raise _unreadable(url, listed) from listed
    threads = ThreadPoolExecutor(_AT_ONCE)
    try:
        copies = threads.map(lambda item: _copied(system, item, spool), listed)
        yield from _arrived(listed, copies, problems)
    finally:
        threads.shutdown(cancel_futures=True)


def _system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL and its path there; raises UnreadableInputError."""
    scheme = urlsplit(url).scheme.lower()
    extra = _EXTRAS.get(scheme, "url")
    if importlib.util.find_spec("fsspec") is None:
        raise _missing_package(url, extra)
    import fsspec  # noqa: PLC0415 - an extra, and slow to import

    filesystem = _attempt(lambda: fsspec.get_filesystem_class(scheme))
    if isinstance(filesystem, ImportError):
        raise _missing_package(url, extra) from filesystem
    _check_reachable(url, scheme)
    opened = _attempt(lambda: fsspec.core.url_to_fs(url))
    if isinstance(opened, ImportError):
        raise _missing_package(url, extra) from opened
    if isinstance(opened, Exception):
        raise _unreadable(url, opened) from opened
    system, root = opened
    return system, root


def _check_reachable(url: str, scheme: str) -> None:
    """Raise UnreadableInputError if the store does not answer: its library would retry for 86 s.

    Behind a proxy there is no check.
    """
    if scheme not in _STORES or any(os.environ.get(name) for name in _PROXIES):
        return
    variable, usual = _STORES[scheme]
    place = os.environ.get(variable) or usual
    parts = urlsplit(place if "://" in place else f"http://{place}")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        _connect(parts.hostname or "", port)
    except OSError as error:
        raise UnreadableInputError(
            f"{shown(url)} cannot be read: {parts.hostname} cannot be reached from here ({error})."
        ) from error


def _connect(host: str, port: int) -> None:
    """Raise OSError where a host does not answer within `_MOST_SECONDS` seconds, its name included.

    In a thread that nobody waits for at the end: looking up a name takes no limit.
    """
    answers: SimpleQueue[OSError | None] = SimpleQueue()

    def ask() -> None:
        try:
            socket.create_connection((host, port), timeout=_PATIENCE).close()
        except OSError as error:
            answers.put(error)
        else:
            answers.put(None)

    threading.Thread(target=ask, daemon=True).start()
    try:
        error = answers.get(timeout=_MOST_SECONDS)
    except Empty:
        raise TimeoutError(f"no answer in {_MOST_SECONDS:g} s") from None
    if error is not None:
        raise error


def _attempt(request: Callable[[], T]) -> T | Exception:
    """Return the result of a request to another machine, or the exception of any library."""
    try:
        return request()
    except Exception as error:  # noqa: BLE001 - each library for another machine has its own errors
        return error


def _unreadable(url: str, error: Exception) -> UnreadableInputError:
    return UnreadableInputError(f"{shown(url)} cannot be read: {_message(error)}.")


def _missing_package(url: str, extra: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"{shown(url)} needs a package that is not installed: pip install 'xlareport[{extra}]'."
    )


def _list_remote(
    system: Any, root: str, url: str, spool: Spool, problems: list[Problem]
) -> Iterator[RemoteFile]:
    """Yield the file at an address, or all files of a folder there, in the order of their paths."""
    on_the_web = urlsplit(url).scheme.lower() in ("http", "https")
    if not (url.endswith("/") if on_the_web else system.isdir(root)):
        name = unquote(urlsplit(url).path) if on_the_web else root
        yield _remote(system, root, inside(name.rsplit("/", 1)[-1]), system.info(root))
        return
    base = root.rstrip("/") + "/"
    pending, seen = [(base, 0)], {base}
    name_of = unquote if on_the_web else str
    while pending:
        folder, depth = pending.pop()
        for child in _children(system, folder, base, problems):
            address = str(child["name"])
            if address.rstrip("/") + "/" in seen or not _is_below(address, base):
                continue
            if len(seen) > spool.limits.files:
                raise too_many_files(spool.limits)
            seen.add(address.rstrip("/") + "/")
            name = inside(name_of(address[len(base) :]))
            if child.get("type") != "directory":
                yield _remote(system, address, name, child)
            elif depth < _MOST_FOLDERS:
                pending.append((address.rstrip("/") + "/", depth + 1))
            else:
                problems.append(Problem(name, None, "Not listed: it lies too deep."))


def _is_below(address: str, base: str) -> bool:
    """Return whether an address is in a folder, because servers can list anything.

    On the web, an address with a question mark sorts the same listing in another way.
    """
    below = address.removeprefix(base)
    leads_up = ".." in unquote(below).split("/")
    sorts = base.startswith("http") and "?" in below
    return below not in ("", address) and not leads_up and not sorts


def _children(
    system: Any, folder: str, base: str, problems: list[Problem]
) -> Iterable[dict[str, Any]]:
    children: list[dict[str, Any]] | Exception = _attempt(lambda: system.ls(folder, detail=True))
    if not isinstance(children, Exception):
        return sorted(children, key=lambda child: str(child["name"]))
    if folder == base:
        raise children
    message = f"This folder cannot be listed: {_message(children)}."
    problems.append(Problem(inside(folder[len(base) :]), None, message))
    return []


_FILE_SYSTEMS = frozenset({"file", "ftp", "hdfs", "local", "sftp", "smb", "ssh"})
"""Protocols with XLA's file times; object stores have the time of the upload."""


def _remote(system: Any, address: str, path: str, value: dict[str, Any]) -> RemoteFile:
    size, protocol = value.get("size"), system.protocol
    names = {protocol} if isinstance(protocol, str) else {*protocol}
    moment = value.get("mtime") if names & _FILE_SYSTEMS else None
    moment = moment.timestamp() if isinstance(moment, datetime) else moment
    modified = float(moment) if isinstance(moment, (int, float)) else None
    return RemoteFile(address, path, size if isinstance(size, int) else 0, modified)


def _copied(system: Any, remote: RemoteFile, spool: Spool) -> Path | Exception:
    """Copy one file to this machine; errors are returned, because this runs in a thread."""
    if remote.size > spool.limits.file_bytes:
        return FileTooLargeError(spool.limits)
    return _attempt(lambda: _spooled(system, remote, spool))


def _spooled(system: Any, remote: RemoteFile, spool: Spool) -> Path:
    with system.open(remote.address, "rb") as stream:
        return spool.add(stream)


def _arrived(
    listed: Iterable[RemoteFile], copies: Iterable[Path | Exception], problems: list[Problem]
) -> Iterator[UnpackedFile]:
    for remote, copy in zip(listed, copies, strict=True):
        if isinstance(copy, UnreadableInputError) and not isinstance(copy, FileTooLargeError):
            raise copy
        if isinstance(copy, Exception):
            problems.append(Problem(remote.path, None, f"Not fetched: {_message(copy)}."))
            continue
        if _is_page(copy):
            message = "A web page came in place of a file; a folder's address ends with a slash."
            problems.append(Problem(remote.path, None, message))
        yield remote.path, copy, remote.modified


def _is_page(copy: Path) -> bool:
    with copy.open("rb") as file:
        return _PAGE.match(file.read(512)) is not None


def _message(error: Exception) -> str:
    """Return the message of an error, short and in one line, without the address and its keys."""
    words = error_reason(error)
    return re.sub(r"\?\S*", "", " ".join(str(words).split()))[:200].rstrip(".")
