"""Files that one build keeps for the next."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

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


def list_kept(folder: Path, ending: str) -> Iterator[os.DirEntry[str]]:
    """Yield the files in the folders of a folder whose names end so; raises OSError.

    Those of one folder are in memory at a time.
    """
    with os.scandir(folder) as folders:
        for inner in [entry.path for entry in folders if entry.is_dir()]:
            with os.scandir(inner) as files:
                yield from [file for file in files if file.name.endswith(ending)]
