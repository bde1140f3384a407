"""A dump that a program still writes: the files that have come to rest, linked into a folder."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

_State = tuple[int, int]
"""Bytes, and nanoseconds of the last change."""


class WatchedDump(Struct):
    """A folder that is looked at again and again."""

    dump: Path
    mirror: Path
    """The folder of links; what is in it from former times is removed at the first look."""
    is_quiet: bool = False
    """Whether no file changed between the last two looks."""
    _seen: dict[str, _State] = field(default_factory=dict)
    _at_rest: dict[str, _State] = field(default_factory=dict)
    _linked: dict[str, _State] | None = None

    def look(self) -> bool:
        """Look at the files; say whether other ones are at rest than those that are linked."""
        seen = dict(_states(self.dump))
        self.is_quiet = bool(seen) and seen == self._seen
        self._seen, before = seen, self._seen
        self._at_rest = {path: state for path, state in seen.items() if before.get(path) == state}
        return bool(self._at_rest) and self._at_rest != self._linked

    def link(self) -> None:
        """Make the folder hold the files at rest and no others; raises OSError."""
        if self._linked is None:
            shutil.rmtree(self.mirror, ignore_errors=True)
        former, linked = self._linked or {}, dict(self._at_rest)
        for path in former.keys() - linked.keys():
            (self.mirror / path).unlink(missing_ok=True)
        for path, state in self._at_rest.items():
            if former.get(path) != state and not _link(self.dump / path, self.mirror / path):
                del linked[path]
        self._linked = linked


def _states(folder: Path) -> Iterator[tuple[str, _State]]:
    """Yield path and state of each regular file below a folder; links are not followed."""
    for current, _, names in os.walk(folder):
        for name in names:
            path = Path(current) / name
            with suppress(OSError):
                state = path.lstat()
                if stat.S_ISREG(state.st_mode):
                    yield str(path.relative_to(folder)), (state.st_size, state.st_mtime_ns)


def _link(path: Path, place: Path) -> bool:
    """Link a file to a second name, or copy it to another disk; return False if it is gone."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    if not path.exists():
        return False
    try:
        place.hardlink_to(path)
    except OSError:
        shutil.copy2(path, place)
    return True
