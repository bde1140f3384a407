"""Files that one build keeps for the next."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISDIR

from xlareport.runtime.regular_file import open_regular

ASIDE = ".part"
"""How the name of a file ends that is not whole yet; a killed build leaves it."""


def keep_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; a full disk costs the next build time and nothing else."""
    aside = path.with_name(f"{path.stem}.{os.getpid()}{ASIDE}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(content)
        aside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            aside.unlink()


def read_kept(path: Path, most: int) -> bytes | None:
    """Return the content of a file; None of one of more than `most` bytes, or where there is none.

    What is no regular file was not kept by a build.
    """
    try:
        descriptor, status = open_regular(path)
        with os.fdopen(descriptor, "rb") as file:
            return file.read() if status.st_size <= most else None
    except OSError:
        return None


def list_kept(folder: Path, ending: str) -> Iterator[os.DirEntry[str]]:
    """Yield the files in the folders of a folder whose names end so; raises OSError.

    Those of one folder are in memory at a time. Links to folders are not followed: their files may
    be anyone's.
    """
    with os.scandir(folder) as folders:
        for inner in [entry.path for entry in folders if entry.is_dir(follow_symlinks=False)]:
            with os.scandir(inner) as files:
                yield from [file for file in files if file.name.endswith(ending)]


def prune_files(folder: Path, most: int) -> None:
    """Remove the files of a folder that were written longest ago, until the rest fits into `most`.

    Another process may remove files as well.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        files = [(entry.stat(follow_symlinks=False), entry.path) for entry in entries]
        for status, path in sorted(files, key=lambda file: -file[0].st_mtime_ns):
            most -= status.st_size
            if most < 0 and not S_ISDIR(status.st_mode):
                Path(path).unlink(missing_ok=True)
