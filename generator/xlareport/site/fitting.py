"""Selects the files of a packed report: the main program, then the most important that fit."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from xlareport.pages import navigation
from xlareport.pages.navigation import PICTURE_LOOK
from xlareport.runtime.errors import UnreadableInputError
from xlareport.storage.payloads import read_payload

HOME = "index.html"
REPORT = "report.json"
COMPARISON = "compare.json"
DATA = "assets/data"

_NOT_PAGES = ("404.html",)
_RECORDS = (REPORT, COMPARISON)
_KEY_OF_PICTURE = re.compile(r"\bpictures/[\w-]{1,200}")


class MainProgram(Struct, frozen=True):
    """The main program of a report, and what is in front of all modules."""

    slug: str | None
    """None where there is no module."""
    pages: tuple[str, ...]
    """Below the site: the home page, then all others but those of other modules."""
    data: tuple[str, ...]
    """Files of payloads, pictures among them."""
    pictures: frozenset[str]
    """Keys of the pictures that these pages and data name."""


def find_site(report: Path) -> Path:
    """Return the folder of the built pages, of a report or of a comparison.

    Raises UnreadableInputError where there is none.
    """
    for folder in (report, report / "site"):
        if (folder / HOME).is_file() and any((folder / name).is_file() for name in _RECORDS):
            return folder
    raise UnreadableInputError(
        f"{report} holds no built report; name the folder given to `xlareport build --out`."
    )


def find_report_site(report: Path) -> Path:
    """Return the folder of the built pages of a report; raises UnreadableInputError.

    A comparison is refused: it has no texts to rebuild from, and no form in one file.
    """
    site = find_site(report)
    if not (site / REPORT).is_file():
        raise UnreadableInputError(
            f"{report} is a comparison: pack it as a zip, without --single-file and --redact."
        )
    return site


def read_main_program(site: Path) -> MainProgram:
    """Return the files of the main program; raises UnreadableInputError."""
    slug = _slug(site)
    pages = tuple(_pages(site, slug))
    shown = sorted((site / DATA).glob("*.js"))
    shown += sorted((site / DATA / "m" / slug).glob("*.js")) if slug else []
    texts = [
        *((site / page).read_text("utf-8", "replace") for page in pages),
        *map(_payload_json, shown),
    ]
    named = {key for text in texts for key in _KEY_OF_PICTURE.findall(text)}
    keys = named | {navigation.PICTURE_LOOK}
    pictures = [path for key in sorted(keys) if (path := site / DATA / f"{key}.js").is_file()]
    payloads = tuple(path.relative_to(site).as_posix() for path in (*shown, *pictures))
    return MainProgram(slug, pages, payloads, frozenset(keys))


def _slug(site: Path) -> str | None:
    name = next(name for name in _RECORDS if (site / name).is_file())
    read = _slug_of_report if name == REPORT else _slug_of_comparison
    try:
        slug = read(json.loads((site / name).read_text("utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableInputError(f"{site}/{name} is damaged: {error}.") from error
    return str(slug) if slug else None


def _slug_of_report(report: Any) -> Any:
    slugs = {item["key"]: item["slug"] for item in report["modules"]}
    return slugs.get(report["main"]["module"]) if report["main"] else None


def _slug_of_comparison(comparison: Any) -> Any:
    """Return the slug of the main program; None if modules of several dumps are in one table."""
    modules = comparison.get("modules", ())
    return next((item["slug"] for item in modules if item["main"]), None)


def _pages(site: Path, slug: str | None) -> Iterator[str]:
    of_main = navigation.module_address(slug) if slug else None
    yield HOME
    for location in sorted(site.rglob("*.html")):
        path = location.relative_to(site).as_posix()
        if path in (HOME, *_NOT_PAGES) or (path.startswith("m/") and path != of_main):
            continue
        yield path


def _payload_json(script: Path) -> str:
    """Return the content of a payload as JSON; empty if it is damaged."""
    try:
        return json.dumps(read_payload(script.read_text("ascii"))[1])
    except ValueError:
        return ""


LIMIT = 25_000_000
"""Bytes: the largest attachment that common bug trackers take."""

_DATA = re.compile(r"assets/data/m/(?P<slug>[^/]+)/(?P<part>[a-z]++)[^/]*\.js")
_PICTURE = re.compile(r"(?:assets/data/)?(?P<key>pictures/[\w-]+)\.(?:js|svg)")
_ORDER = (
    ("others", "versions", "computation timelines of other modules"),
    ("others", "history", "histories of other modules"),
    ("others", "code", "machine code of other modules"),
    ("others", "pictures", "nested graphs of other modules"),
    ("others", "graph", "neighborhood graphs of other modules"),
    ("others", "picture", "pictures of other modules"),
    ("others", "step", "steps of other modules"),
    ("others", "texts", "whole texts of other modules"),
    ("others", "instructions", "tables of instructions of other modules"),
    ("others", "search", "the search inside of other modules"),
    ("others", "small", "parts of the pages of other modules"),
    ("main", "versions", "computation timelines of the main program"),
    ("main", "code", "machine code of the main program"),
    ("main", "pictures", "graphs inside of the main program"),
    ("main", "picture", "pictures of the main program"),
    ("main", "graph", "neighborhood graphs of the main program"),
    ("main", "history", "histories of the main program"),
    ("main", "step", "steps of the main program"),
    ("main", "texts", "whole texts of the main program"),
)
"""Payloads in the order in which they are left out: whose, which, and their name.

Steps come before texts, which contain the lines that steps show.
"""


class Packed(Struct, frozen=True):
    """The packed file."""

    size: int
    """Bytes."""
    files: int
    """Of the site, that are in it."""
    left_out: tuple[tuple[str, int], ...]
    """Files that do not fit: their name and number."""


class PackedFile(Struct, frozen=True):
    """A file of the site that may be packed."""

    path: str
    """Below the site, with `/`."""
    location: Path
    size: int
    """Bytes that it takes once packed."""
    rank: int | None
    """Its place in the order of what is left out; None for what always stays."""


def rank_file(path: str, main: MainProgram) -> int | None:
    """Return where a file is in the order of what is left out; None where it always stays."""
    payload, picture = _DATA.fullmatch(path), _PICTURE.fullmatch(path)
    if picture and picture["key"] != PICTURE_LOOK:
        part, of_main = "picture", picture["key"] in main.pictures
    else:
        part, of_main = (payload["part"], payload["slug"] == main.slug) if payload else ("", True)
    places = {(whose, kind): place for place, (whose, kind, _) in enumerate(_ORDER)}
    return places.get(("main" if of_main else "others", part))


def select_files(
    parts: Sequence[PackedFile], limit: int, fixed: int
) -> tuple[list[PackedFile], list[PackedFile]]:
    """Part the files into those that fit and those left out, the least important and largest.

    `fixed` bytes are taken already. Raises UnreadableInputError where nothing more can be left out.
    """
    spare = limit - fixed - sum(part.size for part in parts)
    dropped: list[PackedFile] = []
    ranked = ((part.rank, -part.size, part) for part in parts if part.rank is not None)
    for _, _, file in sorted(ranked, key=lambda candidate: candidate[:2]):
        if spare >= 0:
            break
        spare += file.size
        dropped.append(file)
    if spare < 0:
        raise UnreadableInputError(
            f"The pages alone need {limit - spare:,} bytes, more than the limit of {limit:,}; "
            "allow more with --limit."
        )
    without = {file.path for file in dropped}
    return [part for part in parts if part.path not in without], dropped


def describe_files(dropped: Iterable[PackedFile]) -> tuple[tuple[str, int], ...]:
    """Return the names of the files that were left out, and their number."""
    counted = Counter(_ORDER[file.rank][2] for file in dropped if file.rank is not None)
    return tuple(counted.items())
