"""Detects whether a build would write the same report as the former one, so that it is skipped.

That is the case if the input bytes, the options and this program are the same, and every file of
the report is unchanged.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from stat import S_ISREG
from typing import Any

from msgspec import Struct

from xlareport.dump.beside import profiles_beside
from xlareport.dump.source import local_path, open_source
from xlareport.records.outcome import BuildOutcome
from xlareport.runtime.file_digest import read_digest
from xlareport.runtime.limits import Limits
from xlareport.runtime.program_digest import digest_program
from xlareport.site.folder import Folder
from xlareport.storage.entry_store import EntryStore
from xlareport.storage.typed_values import list_values, read_values

Digests = Mapping[str, str]


class FormerBuild(Struct, frozen=True):
    """The build of one dump with certain options; its outcome is kept in the output folder."""

    folder: Folder
    store: EntryStore
    key: str

    def outcome(self) -> BuildOutcome | None:
        """Return the outcome of that build if the report is unchanged since, else None."""
        content = self.store.get(self.key)
        if content is None:
            return None
        with self.folder.locked():
            digests = _digest_outputs(self.folder)
        try:
            written, outcome = json.loads(content)
            former: BuildOutcome = read_values(BuildOutcome, outcome)
        except (ValueError, TypeError):
            return None
        return former if digests and written == digests else None

    def keep(self, outcome: BuildOutcome) -> None:
        """Keep the outcome of the build that has just ended."""
        digests = _digest_outputs(self.folder)
        if digests:
            listed = [digests, list_values(outcome)]
            self.store.put(self.key, json.dumps(listed, separators=(",", ":")).encode())


def former_build(
    dump: str, out: Path, options: Any, limits: Limits, cache_bytes: int
) -> FormerBuild | None:
    """Return the build of a dump with options, or None where its input is more than its files.

    Raises XlareportError where the dump cannot be read.
    """
    place = local_path(dump)
    if place is None or cache_bytes <= 0 or profiles_beside(place):
        return None
    folder = Folder(out)
    hasher = blake2b(digest_size=20)
    hasher.update(json.dumps([dump, digest_program(), list_values(options)]).encode())
    try:
        for path, digest in _digest_inputs(place, dump, limits):
            hasher.update(f"{path}\n{digest}\n".encode("utf-8", "surrogatepass"))
    except OSError:
        return None
    return FormerBuild(folder, EntryStore(folder.cache / "builds", cache_bytes), hasher.hexdigest())


def _digest_inputs(place: Path, dump: str, limits: Limits) -> Iterator[tuple[str, str]]:
    """Yield each file that is read with its digest; an archive is one file. Raises OSError."""
    if place.is_file():
        yield f"{place.name} {place.stat().st_mtime_ns}", _hex_digest(place)
        return
    with open_source(dump, limits) as source:
        yield "problems", json.dumps(list_values(source.problems))
        for entry in source.entries:
            digest = _hex_digest(entry.location, entry.most)
            yield f"{entry.path} {entry.size} {entry.modified}", digest


def _digest_outputs(folder: Folder) -> Digests:
    """Return the digest of each file of a report; empty if files are foreign or missing.

    The user's own settings could use files in any place, so such a report is never skipped.
    """
    digest_of: dict[tuple[int, int], str] = {}  # most files of the site are those of its sources
    digests: dict[str, str] = {}
    try:
        if not folder.has_own_settings():
            return {}
        for name, path in _files(folder):
            state = os.stat(path)  # noqa: PTH116 - very many files
            if S_ISREG(state.st_mode):
                file = state.st_dev, state.st_ino
                digest_of[file] = digest_of.get(file) or _hex_digest(path)
                digests[name] = digest_of[file]
    except OSError:
        return {}
    return digests


def _files(folder: Folder) -> Iterator[tuple[str, str]]:
    """Yield each file with its name in the report."""
    for root in (folder.sources, folder.site):
        start = len(str(root))
        for current, _, names in os.walk(root):
            for name in names:
                path = f"{current}{os.sep}{name}"
                yield f"{root.name}{path[start:]}", path


def _hex_digest(path: str | Path, most: int = sys.maxsize) -> str:
    """Return the digest of a file, nothing where it is too large to be read; raises OSError."""
    return (read_digest(path, most) or b"").hex()
