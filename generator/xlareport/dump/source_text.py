"""The text of a source file that a dump names, read only where that can do no harm.

A dump may name any path. So nothing is read unless the user asks for it; then only regular files
of a bounded size that are called like Python sources, also after links are followed, and that are
UTF-8 text. No path of a network share is opened, and nothing waits for a pipe.
"""

import os
import stat
from pathlib import Path

_SUFFIXES = (".py", ".pyi")
_MOST_BYTES = 2_000_000
_MOST_FILES = 500


class SourceTexts:
    """Reads source files, each once; an unreadable or forbidden one has no lines."""

    def __init__(self) -> None:
        """Start without any files read."""
        self._known: dict[str, tuple[str, ...] | None] = {}

    def lines(self, path: str) -> tuple[str, ...] | None:
        """Return the lines of a file; None where it is none that may be read, or too many were."""
        if path not in self._known and len(self._known) < _MOST_FILES:
            self._known[path] = _source_lines(path)
        return self._known.get(path)


def _source_lines(path: str) -> tuple[str, ...] | None:
    if path.startswith(("\\\\", "//")) or "\0" in path or not path.endswith(_SUFFIXES):
        return None
    try:
        target = Path(path).resolve(strict=True)
        content = _content(target) if target.suffix in _SUFFIXES else None
        return tuple(content.decode("utf-8").split("\n")) if content is not None else None
    except (OSError, ValueError, RuntimeError):
        return None


def _content(target: Path) -> bytes | None:
    """Return the content of a regular file. Raises OSError if it cannot be opened."""
    without_waiting = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(target, os.O_RDONLY | getattr(os, "O_BINARY", 0) | without_waiting)
    with os.fdopen(descriptor, "rb") as opened:
        stat_result = os.fstat(opened.fileno())
        if not stat.S_ISREG(stat_result.st_mode) or stat_result.st_size > _MOST_BYTES:
            return None
        return opened.read(_MOST_BYTES)
