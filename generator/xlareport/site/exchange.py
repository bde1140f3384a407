"""Two folders change places at once, where the system can do that."""

import ctypes
import errno
import os
import sys
from pathlib import Path

_CURRENT_FOLDER = -100
_EXCHANGE = 2
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
"""What a kernel or a file system answers that knows of no exchange."""


def exchange_folders(path: Path, other: Path) -> bool:
    """Let two folders that exist change places; False where that is not possible here.

    Raises OSError where it is possible and fails.
    """
    failed = _exchange(os.fsencode(path), os.fsencode(other))
    if failed in _CANNOT:
        return False
    if failed:
        raise OSError(failed, os.strerror(failed), str(path))
    return True


def _exchange(value: bytes, other: bytes) -> int:
    """Call Linux's renameat2 with RENAME_EXCHANGE, or macOS' renamex_np with RENAME_SWAP.

    Return the error number, 0 where all is well. Python has neither call.
    """
    if sys.platform not in ("linux", "darwin"):
        return errno.ENOSYS
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        failed = library.renameat2(_CURRENT_FOLDER, value, _CURRENT_FOLDER, other, _EXCHANGE)
    elif hasattr(library, "renamex_np"):
        failed = library.renamex_np(value, other, _EXCHANGE)
    else:
        return errno.ENOSYS
    return ctypes.get_errno() if failed else 0
