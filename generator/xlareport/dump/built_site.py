"""A report as a source: the texts of the dump that its site carries, byte for byte.

The site is a folder, or one HTML file that `xlareport pack --single-file` wrote: the data in it.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from xlareport.dump.archive import inside
from xlareport.dump.spool import Spool, UnpackedFile
from xlareport.runtime.errors import Problem, UnreadableInputError
from xlareport.runtime.limits import FileTooLargeError
from xlareport.storage.payloads import extract_payload, read_payload
from xlareport.storage.string_folding import Folded, Pattern, unfold_strings
from xlareport.storage.texts import Chunk, DamagedTextsError, StoredText, restore

SINGLE_FILE_MARK = '<meta name="xlareport" content="single-file">'
"""Marks the file as a report; it is within the first 4 KiB."""

_HEAD = 4096
_MOST_BYTES = 1 << 30
_ENDINGS = (".html", ".htm")
_BLOCK = re.compile(rb'<script type="application/json" id="([^"<>]{1,1000})">([^<]*)</script>')


def is_single_file(path: Path, name: str) -> bool:
    """Return whether the file is a report in one file; raises OSError where it cannot be read."""
    if not name.lower().endswith(_ENDINGS):
        return False
    with path.open("rb") as file:
        return SINGLE_FILE_MARK.encode() in file.read(_HEAD)


def single_file_members(
    path: Path, name: str, spool: Spool, problems: list[Problem]
) -> Iterator[UnpackedFile]:
    """Yield (path in the site, spooled file, None) for the data in a report; raises OSError."""
    if path.stat().st_size > _MOST_BYTES:
        raise UnreadableInputError(f"{name} has more than {_MOST_BYTES:,} bytes.")
    for item, content in _BLOCK.findall(path.read_bytes()):
        place = inside(item.decode("utf-8", "backslashreplace"))
        try:
            script = extract_payload(content.decode("ascii")) if place.endswith(".js") else "{}"
        except ValueError as error:
            problems.append(Problem(name, None, f"Not read: its data {place}: {error}."))
            continue
        yield place, spool.keep([script.encode()]), None


_INDEX = re.compile(
    r"(?P<site>(?:[^/]+/)?(?:site/|site_src/)?)assets/data/m/(?P<slug>[^/]+)/texts\.js"
)
_LARGEST_SCRIPT = 256 << 20
_MOST_CHARACTERS = 1 << 30
"""Limit on characters of the lines of one chunk."""
_ALTERED = "Not restored: this file of the report is damaged or of another version: {}."


def index_scripts(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the scripts that list the texts of a site; empty where the files are no site."""
    matches, reports = [], set()
    for path in paths:
        match = _INDEX.fullmatch(path)
        if match:
            matches.append(match)
        if path.endswith("report.json"):
            reports.add(path)
    sites = sorted({match["site"] for match in matches if f"{match['site']}report.json" in reports})
    return tuple(match[0] for match in matches if match["site"] == sites[0]) if sites else ()


def restored(
    index: str,
    scripts: Mapping[str, Path],
    spool: Spool,
    problems: list[Problem],
    wanted: Collection[str] | None = None,
) -> Iterator[UnpackedFile]:
    """Yield (path in the dump, file, modified) for the texts of one module of a site.

    `wanted` are the paths of the requested texts; None means all.
    """
    try:
        listed = _read(scripts[index])
        texts = [_stored_text(item) for item in listed["texts"]]
        names = (f"{index[:-3]}-{number}.js" for number in range(len(listed["chunks"])))
        chunks = [_chunk(_read(scripts[name])) for name in names]
        for text, parts in restore(texts, chunks):
            path = inside(text.path)
            if wanted is None or path in wanted:
                yield path, spool.keep(parts), text.modified
    except FileTooLargeError as error:
        problems.append(Problem(index, None, f"Not restored: {error}."))
    except KeyError as error:
        problems.append(Problem(index, None, _ALTERED.format(f"it lacks {error}")))
    except (DamagedTextsError, ValueError, TypeError, OverflowError, OSError) as error:
        problems.append(Problem(index, None, _ALTERED.format(error)))


def text_scripts(index: str, scripts: Mapping[str, Path]) -> Iterator[Path]:
    """Yield the script files with the texts of one module; the first one lists them."""
    names = (f"{index[:-3]}-{number}.js" for number in count())
    yield scripts[index]
    yield from (scripts[name] for name in takewhile(scripts.__contains__, names))


def _read(script: Path) -> Mapping[str, Any]:
    if script.stat().st_size > _LARGEST_SCRIPT:
        raise DamagedTextsError("it is too large")
    _, value = read_payload(script.read_text("ascii"))
    if not isinstance(value, dict):
        raise DamagedTextsError("it holds something else")
    return value


def _stored_text(record: Sequence[Any]) -> StoredText:
    path, size, modified, chunk, runs, *_ = record
    moment = None if modified is None else float(modified)
    return StoredText(
        str(path), _whole_number(size), moment, _whole_number(chunk), _whole_numbers(runs)
    )


def _chunk(record: Mapping[str, Any]) -> Chunk:
    patterns, uses, numbers = record["lines"]
    lines = Folded(
        [_pattern(pattern) for pattern in patterns], _whole_numbers(uses), _whole_numbers(numbers)
    )
    blocks = [_whole_numbers(runs) for runs in record["blocks"]]
    return Chunk(unfold_strings(lines, _MOST_CHARACTERS), blocks)


def _pattern(value: Any) -> Pattern:
    return value if isinstance(value, str) else [str(part) for part in value]


def _whole_numbers(value: Sequence[Any]) -> list[int]:
    return [_whole_number(number) for number in value]


def _whole_number(value: Any) -> int:
    if not isinstance(value, int):
        raise DamagedTextsError(f"{json.dumps(value)[:40]} is no whole number")
    return value
