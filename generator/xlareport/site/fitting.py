"""What of a report is packed: all that fits, and of the rest the least important is left out."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlareport.pages.navigation import PICTURE_LOOK
from xlareport.runtime.errors import UnreadableInputError
from xlareport.site.main_program import MainProgram

LIMIT = 25_000_000
"""Bytes: the largest attachment that common bug trackers take."""

_DATA = re.compile(r"assets/data/m/(?P<slug>[^/]+)/(?P<part>[a-z]++)[^/]*\.js")
_PICTURE = re.compile(r"(?:assets/data/)?(?P<key>pictures/[\w-]+)\.(?:js|svg)")
_ORDER = (
    ("others", "versions", "computation timelines of other modules"),
    ("others", "history", "histories of other modules"),
    ("others", "code", "machine code of other modules"),
    ("others", "pictures", "graphs inside of other modules"),
    ("others", "graph", "neighbourhoods in other modules"),
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
    ("main", "graph", "neighbourhoods in the main program"),
    ("main", "history", "histories of the main program"),
    ("main", "step", "steps of the main program"),
    ("main", "texts", "whole texts of the main program"),
)
"""What is left out first, second, and so on: whose, which payloads, and what they are called.

Steps go before texts, which hold the lines that steps show.
"""


@dataclass(frozen=True, slots=True)
class Packed:
    """What was written."""

    size: int
    """Bytes."""
    files: int
    """Of the site, that are in it."""
    left_out: tuple[tuple[str, int], ...]
    """What does not fit, in words, and how many files that is."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of the site that may be packed."""

    path: str
    """Below the site, with `/`."""
    location: Path
    size: int
    """Bytes that it takes once packed."""
    rank: int | None
    """Its place in the order of what is left out; None for what always stays."""


def rank_file(path: str, main: MainProgram) -> int | None:
    """Return where a file stands in the order of what is left out; None where it always stays."""
    data, picture = _DATA.fullmatch(path), _PICTURE.fullmatch(path)
    if picture and picture["key"] != PICTURE_LOOK:
        part, of_main = "picture", picture["key"] in main.pictures
    else:
        part, of_main = (data["part"], data["slug"] == main.slug) if data else ("", True)
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
    for _, _, file in sorted(ranked, key=lambda each: each[:2]):
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
    """Return what was left out, by what it is called, and how many files that is."""
    counted = Counter(_ORDER[file.rank][2] for file in dropped if file.rank is not None)
    return tuple(counted.items())
