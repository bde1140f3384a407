"""Contents kept from build to build in the files of a folder, by the digest of their sources.

A damaged file counts as absent: its content is checked by its own digest.
"""

import contextlib
import os
from array import array
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast

import zstandard
from msgspec import Struct, msgpack

from xlareport.runtime.kept_file import ASIDE, keep_file, list_kept, read_kept

T = TypeVar("T")

_LEVEL = 1
_MOST_BYTES = 1 << 30
"""Bytes that an entry may have, and unpack to."""
_DIGEST = 32
_ENDING = ".kept"


class EntryStore(Struct, frozen=True):
    """A folder of entries."""

    folder: Path
    most: int
    """Bytes that all entries together may take after `prune`; 0 keeps none."""

    def get(self, key: str) -> bytes | None:
        """Return the content of a key, or None; an altered file is removed."""
        path = self._path(key)
        written = read_kept(path, _MOST_BYTES)
        if written is None:
            return None
        content = _unsealed(key, written)
        with contextlib.suppress(OSError):
            if content is None:
                path.unlink()
            else:
                os.utime(path)
        return content

    def has(self, key: str) -> bool:
        """Return whether there is a file for a key; its content is not checked."""
        return self._path(key).is_file()

    def put(self, key: str, content: bytes) -> None:
        """Keep a content, whole or not at all; a full disk costs the next build time, no more."""
        if self.most > 0:
            keep_file(self._path(key), _sealed(key, content))

    def get_record(self, key: str, kind: type[T]) -> T | None:
        """Return the record of a key; None where there is none that can be read as `kind`."""
        content, decoded_type = self.get(key), cast("Hashable", kind)
        if content is None:
            return None
        try:
            record: T = _decoder(decoded_type).decode(content)
        except (ValueError, RecursionError):
            return None
        return record

    def put_record(self, key: str, record: object) -> None:
        """Keep a record of texts, whole numbers and records of them by its values, as `put` does.

        A record with a text that is in no file is not kept.
        """
        with contextlib.suppress(UnicodeError):
            self.put(key, msgpack.encode(record))

    def prune(self) -> None:
        """Remove the least recently used entries until the rest fits, and leftover files."""
        with contextlib.suppress(OSError):
            for entry in list_kept(self.folder, ASIDE):
                Path(entry.path).unlink(missing_ok=True)
            for path in self._too_many():
                path.unlink(missing_ok=True)

    def _too_many(self) -> Iterator[Path]:
        """Yield the files beyond the limit: those used before some time, and some of it."""
        times, sizes = array("q"), array("q")
        for entry in list_kept(self.folder, _ENDING):
            status = entry.stat()
            times.append(status.st_mtime_ns)
            sizes.append(status.st_size)
        if sum(sizes) <= self.most:
            return
        oldest = _oldest_that_fits(times, sizes, self.most)
        room = self.most - sum(
            size for time, size in zip(times, sizes, strict=True) if time > oldest
        )
        for entry in list_kept(self.folder, _ENDING):
            status = entry.stat()
            if status.st_mtime_ns == oldest:
                room -= status.st_size
            if status.st_mtime_ns < oldest or (status.st_mtime_ns == oldest and room < 0):
                yield Path(entry.path)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}{_ENDING}"


@cache
def _decoder(kind: Any) -> msgpack.Decoder[Any]:
    return msgpack.Decoder(kind)


def _oldest_that_fits(times: Sequence[int], sizes: Sequence[int], most: int) -> int:
    """Return the time of the first entry that no longer fits, the latest ones counted first."""
    room = most
    for place in sorted(range(len(times)), key=times.__getitem__, reverse=True):
        room -= sizes[place]
        if room < 0:
            return times[place]
    return 0


def _sealed(key: str, content: bytes) -> bytes:
    packed = zstandard.ZstdCompressor(level=_LEVEL).compress(content)
    return _digest(key, packed) + packed


def _unsealed(key: str, written: bytes) -> bytes | None:
    digest, packed = written[:_DIGEST], written[_DIGEST:]
    if digest != _digest(key, packed):
        return None
    try:
        if zstandard.frame_content_size(packed) > _MOST_BYTES:
            return None
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MOST_BYTES)
    except zstandard.ZstdError:
        return None


def _digest(key: str, packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_DIGEST, key=key.encode()).digest()
