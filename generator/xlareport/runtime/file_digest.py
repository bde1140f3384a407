"""Digests of files, each read once by a process and those that are forked from it."""

import os
import sys
import time
from hashlib import sha256
from pathlib import Path

from xlareport.runtime.regular_file import open_regular

_AT_A_TIME = 1 << 20
_MOST = 20_000
"""Digests that are remembered, so that the memory of a process has a limit."""
_SETTLED = 2_000_000_000
"""Nanoseconds after which another change of a file has another time in every file system."""
_State = tuple[int, ...]

_remembered: dict[_State, bytes] = {}


def digest_file(path: Path, most: int = sys.maxsize) -> bytes | None:
    """Return what `read_digest` returns, where that has read the file since its last change.

    A file is the same while its inode, size and times of change are.
    """
    status = os.stat(path)  # noqa: PTH116 - thousands of files
    known = _remembered.get(_state(status)) if status.st_size <= most else None
    return known or read_digest(path, most)


def read_digest(path: str | Path, most: int = sys.maxsize) -> bytes | None:
    """Return the SHA-256 of a regular file, None of one of more than `most` bytes; raises OSError.

    It is remembered for `digest_file`.
    """
    descriptor, status = open_regular(path)
    try:
        return None if status.st_size > most else _digest_opened(descriptor, status)
    finally:
        os.close(descriptor)


def _digest_opened(descriptor: int, before: os.stat_result) -> bytes:
    digest = sha256()  # processors have instructions for it
    while block := os.read(descriptor, _AT_A_TIME):
        digest.update(block)
    state = _state(before)
    is_same = _state(os.fstat(descriptor)) == state
    if is_same and len(_remembered) < _MOST and _is_settled(before):
        _remembered[state] = digest.digest()
    return digest.digest()


def _is_settled(status: os.stat_result) -> bool:
    return time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED


def _state(status: os.stat_result) -> _State:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
