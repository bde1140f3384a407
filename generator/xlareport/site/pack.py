"""One zip of a site, small enough for a bug tracker: omitted files are listed."""

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec.structs import replace

from xlareport.runtime.errors import writing
from xlareport.site.fitting import (
    LIMIT,
    Packed,
    PackedFile,
    describe_files,
    find_site,
    rank_file,
    read_main_program,
    select_files,
)

LIST = "LEFT-OUT.txt"
NO_NOTES: Mapping[str, str] = MappingProxyType({})

_MOMENT = (1980, 1, 1, 0, 0, 0)
"""Of every file, so that packing the same site twice gives the same bytes."""
_PER_FILE = 150
"""Bytes of a file's headers in a zip, in addition to twice its name."""
_SCRIPT = "assets/iframe-worker.js"
"""The first that runs on a page."""
_DATA = "assets/data/"
_ABSENT = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 420 40" width="420" height="40">'
    '<text x="8" y="25" font-family="sans-serif" font-size="14" fill="#767676">'
    "This picture was left out of this packed report.</text></svg>\n"
)
"""Replaces an omitted picture, because browsers report missing images."""


def pack(
    report: Path, target: Path, limit: int = LIMIT, notes: Mapping[str, str] = NO_NOTES
) -> Packed:
    """Write the site of a report as a zip of at most `limit` bytes, pages and data as they are.

    `notes` are further files of a few lines. Raises UnreadableInputError where the pages alone
    are too large, and UnwritableFileError.
    """
    site = find_site(report)
    parts = sorted(_parts(site), key=lambda part: part.path)
    written = (_list_left_out(parts), *notes.values())
    fixed = sum(len(text) + _PER_FILE for text in written) + len(zlib.compress(_lacking(parts)))
    packed, dropped = select_files(parts, limit, fixed + sum(map(_remains, parts)))
    absent = {file.path: _ABSENT for file in dropped if _is_picture(file.path)}
    with writing(target):
        _write(
            target, packed, {**notes, **absent, LIST: _list_left_out(dropped)}, _lacking(dropped)
        )
    return Packed(target.stat().st_size, len(packed), describe_files(dropped))


def _parts(site: Path) -> Iterator[PackedFile]:
    main = read_main_program(site)
    for location in site.rglob("*"):
        if location.is_file() and not location.is_symlink():
            path = location.relative_to(site).as_posix()
            size = len(zlib.compress(location.read_bytes())) + _PER_FILE + 2 * len(path)
            part = PackedFile(path, location, size, rank_file(path, main))
            yield replace(part, size=size - _remains(part))


def _is_picture(path: str) -> bool:
    return path.endswith(".svg")


def _remains(part: PackedFile) -> int:
    """Return the bytes that stay where a file is left out: those of what is in its place."""
    stays = part.rank is not None and _is_picture(part.path)
    return len(_ABSENT) + _PER_FILE + 2 * len(part.path) if stays else 0


def _lacking(dropped: Iterable[PackedFile]) -> bytes:
    """Return the script line that names the left-out payloads; empty if there are none."""
    payloads = [file.path for file in dropped if file.path.startswith(_DATA)]
    keys = [path.removeprefix(_DATA).removesuffix(".js") for path in payloads]
    listed = json.dumps(json.dumps(keys))
    place = "document.documentElement.dataset.xrLeftOut"
    return f"{place} = {listed};\n".encode() if keys else b""


def _list_left_out(dropped: Iterable[PackedFile]) -> str:
    """Return the list that the zip holds of what it leaves out; empty where that is nothing."""
    lines = [file.path for file in dropped]
    if not lines:
        return ""
    head = "Left out of this report to keep it small; the pages say so where it is missing:"
    return "\n".join([head, "", *lines, ""])


def _write(
    target: Path, parts: Iterable[PackedFile], notes: Mapping[str, str], lacking: bytes
) -> None:
    folder = target.name.removesuffix(".zip")
    aside = target.with_name(f".{target.name}.part")
    try:
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in parts:
                more = lacking if part.path == _SCRIPT else b""
                archive.writestr(
                    _zip_entry(f"{folder}/{part.path}"), part.location.read_bytes() + more
                )
            for name, text in notes.items():
                if text:
                    archive.writestr(_zip_entry(f"{folder}/{name}"), text)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def _zip_entry(path: str) -> zipfile.ZipInfo:
    zip_info = zipfile.ZipInfo(path, _MOMENT)
    zip_info.compress_type = zipfile.ZIP_DEFLATED
    zip_info.external_attr = 0o644 << 16
    return zip_info
