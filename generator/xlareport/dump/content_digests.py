"""Digests of file contents, whole or without the parts that each process writes differently."""

from collections.abc import Callable, Iterable
from hashlib import blake2b, sha256
from typing import Protocol, TypeVar

from xlareport.dump.source import Entry
from xlareport.runtime.file_digest import digest_file

T = TypeVar("T")
R = TypeVar("R")

_OF_DUMPING = b"xla_dump_"
"""Options that say where to dump: each rank names a folder of its own."""
_TIMES = (".metadata.textproto",)
"""Suffixes of files that differ only in the times of passes."""
_OPTIONS = (".debug_options",)


class RunEach(Protocol):
    """Calls a function with each of some items, like `map`, in this process or elsewhere."""

    def __call__(self, work: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
        """Return the results in the order of the items."""


def is_volatile(path: str) -> bool:
    """Return whether equal compilations write this file with contents of different sizes."""
    return path.endswith((*_TIMES, *_OPTIONS))


def content_digest(entry: Entry) -> bytes:
    """Return a digest of a file; raises OSError. Dump options and times of passes do not count."""
    if entry.path.endswith(_TIMES):
        return b"times"
    content = entry.read()
    if entry.path.endswith(_OPTIONS):
        lines = content.split(b"\n")
        content = b"\n".join(line for line in lines if not line.startswith(_OF_DUMPING))
    return blake2b(content, digest_size=20).digest()


def known_digest(entry: Entry) -> bytes | None:
    """Return the digest of a file; None where it cannot be read."""
    try:
        return content_digest(entry)
    except OSError:
        return None


def whole_digest(entry: Entry) -> bytes:
    """Return the SHA-256 of a file; raises OSError where it cannot be read."""
    known = digest_file(entry.location, entry.most) if entry.stored is None else None
    return sha256(entry.read()).digest() if known is None else known


def brief(value: object) -> bytes:
    """Return a short digest of a value that consists of plain texts and numbers."""
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).digest()
