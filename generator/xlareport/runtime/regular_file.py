"""Opens regular files: a pipe or a device in the place of one neither blocks nor is read."""

import errno
import os
from pathlib import Path
from stat import S_ISREG

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str | Path) -> tuple[int, os.stat_result]:
    """Return the descriptor of an opened file and its status; raises OSError.

    The caller closes the descriptor.
    """
    descriptor = os.open(path, _FLAGS)
    status = os.fstat(descriptor)
    if S_ISREG(status.st_mode):
        return descriptor, status
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a regular file")
