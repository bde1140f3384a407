"""The texts that a dump or a report carries, written back as files."""

import errno
import shutil
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath

from xlareport.dump.source import Entry, open_source
from xlareport.runtime.errors import Problem, error_reason, refuse_contents, writing
from xlareport.runtime.limits import LIMITS, Limits
from xlareport.site.folder import check_apart

_UNFIT = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EILSEQ)
"""A name that this file system does not allow, or that another file of the dump is in for."""


def extract_texts(
    source: str | Path, out: Path, limits: Limits = LIMITS
) -> tuple[int, tuple[Problem, ...]]:
    """Write every file that a dump or a site holds below a new or empty folder.

    Return how many, and what could not be read or has no possible name there.
    """
    check_apart(source, out)
    refuse_contents(out)
    with writing(out), open_source(source, limits) as opened:
        folders = {
            str(above) for entry in opened.entries for above in PurePosixPath(entry.path).parents
        }
        left = [problem for entry in opened.entries if (problem := _extract(entry, out, folders))]
        return len(opened.entries) - len(left), (*opened.problems, *left)


def _extract(entry: Entry, out: Path, folders: AbstractSet[str]) -> Problem | None:
    """Write one file; return a problem if its name does not allow it.

    A captured log gives its name to the folder of its contents, and is written next to it.
    """
    if ".." in entry.path.split("/") or "\0" in entry.path:
        return Problem(entry.path, None, "Not written: its name is no path below the folder.")
    target = out / (f"{entry.path}.whole" if entry.path in folders else entry.path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(entry.location, target)
    except OSError as error:
        if error.errno not in _UNFIT:
            raise
        return Problem(entry.path, None, f"Not written: {error_reason(error)}.")
    return None
