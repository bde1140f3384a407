"""The size of a built site, and the limits that it should keep."""

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from xlareport.runtime import units

MOST_FIXED = 6_000_000
"""Bytes of what every report has."""
MOST_GROWN = 0.03
"""Of the bytes of a dump, for what grows with it: all texts and pictures are in that."""
LARGE_DUMP = 100_000_000
"""Bytes from which a dump is held to that; the pages of a small one are larger than it."""
MOST_HOME = 300_000
MOST_PAGE = 1_500_000
"""Bytes of a page before shared scripts and data that is loaded on demand."""

_FIXED = ("assets/", "guide/", "search/", "404.html", "glossary.html")
_DATA = "assets/data/"


class SiteSizes(Struct, frozen=True):
    """Bytes of a site."""

    fixed: int
    """Bytes that every report has: theme, scripts, guide, glossary, their search index."""
    grown: int
    """Bytes that depend on this dump."""
    pages: dict[str, int]
    """Each page by its path."""

    @property
    def largest_page(self) -> str:
        """The path of the largest page."""
        return max(self.pages, key=self.pages.__getitem__)


def measure_site(site: Path) -> SiteSizes:
    """Measure a built site."""
    files = dict(_sizes(site))
    fixed = sum(
        size
        for path, size in files.items()
        if path.startswith(_FIXED) and not path.startswith(_DATA)
    )
    pages = {path: size for path, size in files.items() if path.endswith(".html")}
    return SiteSizes(fixed, sum(files.values()) - fixed, pages)


def _sizes(folder: Path | str, above: str = "") -> Iterator[tuple[str, int]]:
    """Yield the path of each file below a folder with its bytes."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _sizes(entry.path, f"{above}{entry.name}/")
            elif entry.is_file():
                yield f"{above}{entry.name}", entry.stat().st_size


def describe_sizes(sizes: SiteSizes, dump: int, seconds: float) -> list[str]:
    """Return the size of a site, the share of a dump of `dump` bytes in it, and the time."""
    whole, fixed, grown = (
        _bytes(number) for number in (sizes.fixed + sizes.grown, sizes.fixed, sizes.grown)
    )
    share = f", {units.share(sizes.grown / dump)} of it" if dump >= LARGE_DUMP else ""
    parts = f"{fixed} that every report has, {grown} for this dump of {_bytes(dump)}{share}"
    page = f"{sizes.largest_page}, {_bytes(sizes.pages[sizes.largest_page])}"
    took = units.seconds(seconds)
    return [
        f"The site has {whole}: {parts}.",
        f"Its largest page is {page}; the build took {took}.",
    ]


def _bytes(number: int) -> str:
    return units.quantity(number, "B")
