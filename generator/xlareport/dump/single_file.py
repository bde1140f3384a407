"""A report in one HTML file, which `xlareport pack --single-file` writes: the data in it."""

import re
from collections.abc import Iterator
from pathlib import Path

from xlareport.dump.archive import Member, inside
from xlareport.dump.spool import Spool
from xlareport.runtime.errors import Problem, UnreadableInputError
from xlareport.storage.payloads import extract_payload

MARK = '<meta name="xlareport" content="single-file">'
"""Stands in the first 4 KiB of the file, so that it is known for what it is."""

_HEAD = 4096
_LARGEST = 1 << 30
_ENDINGS = (".html", ".htm")
_BLOCK = re.compile(rb'<script type="application/json" id="([^"<>]{1,1000})">([^<]*)</script>')


def is_single_file(path: Path, name: str) -> bool:
    """Say whether the file is a report in one file; raises OSError where it cannot be read."""
    if not name.lower().endswith(_ENDINGS):
        return False
    with path.open("rb") as file:
        return MARK.encode() in file.read(_HEAD)


def members(path: Path, name: str, spool: Spool, problems: list[Problem]) -> Iterator[Member]:
    """Yield (path in the site, spooled file, None) for the data in a report; raises OSError."""
    if path.stat().st_size > _LARGEST:
        raise UnreadableInputError(f"{name} has more than {_LARGEST:,} bytes.")
    for item, data in _BLOCK.findall(path.read_bytes()):
        place = inside(item.decode("utf-8", "backslashreplace"))
        try:
            script = extract_payload(data.decode("ascii")) if place.endswith(".js") else "{}"
        except ValueError as error:
            problems.append(Problem(name, None, f"Not read: its data {place}: {error}."))
            continue
        yield place, spool.keep([script.encode()]), None
