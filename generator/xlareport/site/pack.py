"""One zip of a site, small enough for a bug tracker: what does not fit is left out, and listed."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from xlareport.errors import UnwritableFileError
from xlareport.site.fitting import LIMIT, Packed, Part, fitting, in_words, rank
from xlareport.site.main_program import find_site, main_program

LIST = "LEFT-OUT.txt"
NO_NOTES: Mapping[str, str] = MappingProxyType({})

_MOMENT = (1980, 1, 1, 0, 0, 0)
"""Of every file, so that packing the same site twice gives the same bytes."""
_PER_FILE = 150
"""Bytes of a file's headers in a zip beside twice its name."""


def pack(
    report: Path, target: Path, limit: int = LIMIT, notes: Mapping[str, str] = NO_NOTES
) -> Packed:
    """Write the site of a report as a zip of at most `limit` bytes, pages and data as they are.

    `notes` are further files of a few lines. Raises UnreadableInputError where the pages alone
    are too large, and UnwritableFileError.
    """
    site = find_site(report)
    parts = sorted(_parts(site), key=lambda one: one.path)
    written = (_told(parts), *notes.values())
    kept, dropped = fitting(parts, limit, sum(len(one) + _PER_FILE for one in written))
    try:
        _write(target, kept, {**notes, LIST: _told(dropped)})
    except OSError as error:
        raise UnwritableFileError(target, error) from error
    return Packed(target.stat().st_size, len(kept), in_words(dropped))


def _parts(site: Path) -> Iterator[Part]:
    main = main_program(site)
    for location in site.rglob("*"):
        if location.is_file() and not location.is_symlink():
            path = location.relative_to(site).as_posix()
            size = len(zlib.compress(location.read_bytes())) + _PER_FILE + 2 * len(path)
            yield Part(path, location, size, rank(path, main))


def _told(dropped: Iterable[Part]) -> str:
    """Return the list that the zip holds of what it leaves out; empty where that is nothing."""
    lines = [one.path for one in dropped]
    if not lines:
        return ""
    head = "Left out of this report to keep it small; the pages say so where it is missing:"
    return "\n".join([head, "", *lines, ""])


def _write(target: Path, parts: Iterable[Part], notes: Mapping[str, str]) -> None:
    folder = target.name.removesuffix(".zip")
    aside = target.with_name(f".{target.name}.part")
    try:
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in parts:
                archive.writestr(_named(f"{folder}/{one.path}"), one.location.read_bytes())
            for name, text in notes.items():
                if text:
                    archive.writestr(_named(f"{folder}/{name}"), text)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def _named(path: str) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(path, _MOMENT)
    made.compress_type = zipfile.ZIP_DEFLATED
    made.external_attr = 0o644 << 16
    return made
