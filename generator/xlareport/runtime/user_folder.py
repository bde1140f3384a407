"""A folder that is the user's alone, for what all reports of the user share between builds.

It is below the temporary folder: in that of the package it would be left when the package is
uninstalled.
"""

import os
import stat
import sys
import tempfile
from pathlib import Path


def user_folder() -> Path | None:
    """Return the folder; None where there is none, or where Python keeps no bytecode."""
    if sys.dont_write_bytecode:
        return None
    try:
        temporary = Path(tempfile.gettempdir())
        if not hasattr(os, "getuid"):  # on Windows the temporary folder is the user's
            return temporary / "xlareport-kept"
        folder = temporary / f"xlareport-kept-{os.getuid()}"
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
        return folder if _is_private(folder) else None
    except OSError:
        return None


def _is_private(folder: Path) -> bool:
    status = folder.lstat()
    is_open = status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not is_open
