"""Digests of files, each read once by a process and those that are forked from it."""

import errno
import os
import sys
import time
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG

_AT_A_TIME = 1 << 20
_MOST = 20_000
"""Digests that are remembered, so that the memory of a process has a limit."""
_SETTLED = 2_000_000_000
"""Nanoseconds after which another change of a file has another time in every file system."""
_State = tuple[int, ...]

_remembered: dict[_State, bytes] = {}


def digest_file(path: Path, most: int = sys.maxsize) -> bytes | None:
    """Return the SHA-256 of a regular file, None of one of more than `most` bytes; raises OSError.

    A file is not read again while its inode, size and times of change are the same.
    """
    status = os.stat(path)  # noqa: PTH116 - thousands of files
    return None if status.st_size > most else _remembered.get(_state(status)) or _digest_now(path)


def _digest_now(path: Path) -> bytes:
    digest = sha256()  # processors have instructions for it
    with open(path, "rb", buffering=0, opener=_at_once) as file:
        before = os.fstat(file.fileno())
        if not S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        while block := file.read(_AT_A_TIME):
            digest.update(block)
        is_same = _state(os.fstat(file.fileno())) == _state(before)
    if is_same and _is_settled(before) and len(_remembered) < _MOST:
        _remembered[_state(before)] = digest.digest()
    return digest.digest()


def _is_settled(status: os.stat_result) -> bool:
    return time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED


def _state(status: os.stat_result) -> _State:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _at_once(path: str, flags: int) -> int:
    """Open a file without blocking, because it may have been replaced by a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
