"""Shares of a site for processes of MkDocs: few pages of modules each, however many there are.

MkDocs has an object for each file of its sources, and the HTML of all pages, in memory at once. A
share names the pages of modules that one run makes; the first share has everything else as well.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from posixpath import join, normpath

from msgspec import Struct

SHARE = "XLAREPORT_SHARE"
"""Environment variable with the path of this process's share; empty for the whole site."""
MODULES = "m"
"""The folder of the pages of modules."""
WRITTEN_WHOLE = ("assets/data", "pictures")
"""Folders of files that a later build replaces and never modifies: a former site is unchanged."""
_FEWEST = 100
"""Pages of modules for which one more process is worth its beginning."""
_REST = 60
"""Pages of modules that take as long as everything else, which the first process makes."""
_MOST_PAGES = 500
"""Pages of modules in a share, so that the memory of a process has a limit."""
_MOST_UNCHANGED = 2_000
"""The same where few of the pages have to be made: a page that is kept takes little of it."""
_FRONT = 2_000
"""Characters in which the settings of a generated page end."""
_NO_MARKDOWN = "\nbetween_headings: html\n"
_TOKEN = re.compile(r"[^\s()<>\"'#?]+")


class SiteShare(Struct, frozen=True):
    """The part of a site that one process of MkDocs makes."""

    is_first: bool
    """Whether it makes everything but the pages of modules, too."""
    pages: frozenset[str]
    """Paths of pages of modules, relative to the sources."""


def write_shares(
    sources: Path, folder: Path, jobs: int, former: Path | None = None
) -> list[Path | None]:
    """Write the shares of a site into a folder and return their paths; None for a whole site.

    `former` is the site of the last build, if its pages are kept: those are not made again whose
    sources did not change since.
    """
    number = sum(1 for _ in _module_pages(sources))
    to_make = number if former is None else _count_changed(sources, former)
    processes = min(jobs, 1 + to_make // _FEWEST)
    most = _MOST_UNCHANGED if former and to_make <= _FEWEST else _MOST_PAGES
    at_once = min(most, -(-(number + _REST) // processes))
    if number <= min(at_once, _MOST_PAGES):
        return [None]
    pages = _module_pages(sources)
    shares = [
        _write_share(folder / "share-0", islice(pages, max(0, at_once - _REST)), is_first=True)
    ]
    while some := list(islice(pages, at_once)):
        shares.append(_write_share(folder / f"share-{len(shares)}", some, is_first=False))
    return list(shares)


def _count_changed(sources: Path, former: Path) -> int:
    """Count the pages of modules that are younger than those of a former site, or not in it."""
    return sum(
        _modified(f"{former}{os.sep}{page.removesuffix('.md')}.html")
        <= _modified(f"{sources}{os.sep}{page}")
        for page in _module_pages(sources)
    )


def _modified(path: str) -> int:
    """Return when a file was written, 0 where it is not there."""
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 - very many files
    except OSError:
        return 0


def _module_pages(sources: Path) -> Iterator[str]:
    """Yield the pages of modules in the order of the folder, none kept in memory."""
    folder = sources / MODULES
    if folder.is_dir():
        with os.scandir(folder) as files:
            yield from (f"{MODULES}/{file.name}" for file in files if file.name.endswith(".md"))


def _write_share(path: Path, pages: Iterable[str], *, is_first: bool) -> Path:
    path.write_text(json.dumps({"is_first": is_first, "pages": list(pages)}), "utf-8")
    return path


def own_share() -> SiteShare | None:
    """Return the share of this process; None if it makes the whole site."""
    path = os.environ.get(SHARE)
    if not path:
        return None
    content = json.loads(Path(path).read_text("utf-8"))
    return SiteShare(content["is_first"], frozenset(content["pages"]))


def share_paths(share: SiteShare, sources: Path) -> Iterator[str]:
    """Yield the sources that a share needs, in MkDocs' order.

    These are its pages, all files outside the folders that grow with the number of modules, and
    pages of modules to which its Markdown links.
    """
    linked: set[str] = set(share.pages)
    for path in _outside(sources, share):
        if share.is_first and path.endswith(".md"):
            linked |= _linked_modules(sources, path)
        yield path
    for page in share.pages:
        linked |= _linked_modules(sources, page)
    yield from sorted(linked)


def _outside(sources: Path, share: SiteShare) -> Iterator[str]:
    """Yield the paths of files outside the folders of modules and payloads."""
    for folder, folders, names in os.walk(sources, followlinks=True):
        inside = Path(folder).relative_to(sources).as_posix()
        prefix = "" if inside == "." else f"{inside}/"
        folders[:] = sorted(
            name for name in folders if f"{prefix}{name}" not in (*WRITTEN_WHOLE, MODULES)
        )
        yield from (f"{prefix}{name}" for name in sorted(names, key=_index_first))
    if share.is_first:
        yield from _of_users(sources)


def _of_users(sources: Path) -> Iterator[str]:
    """Yield the files that the user added next to the pages of modules."""
    folder = sources / MODULES
    if folder.is_dir():
        with os.scandir(folder) as entries:
            others = [entry.path for entry in entries if not entry.name.endswith(".md")]
        for other in map(Path, others):
            files = [other] if other.is_file() else filter(Path.is_file, other.rglob("*"))
            yield from (file.relative_to(sources).as_posix() for file in files)


def _index_first(name: str) -> tuple[bool, str]:
    return os.path.splitext(name)[0] not in ("index", "README"), name  # noqa: PTH122 - as MkDocs


def _linked_modules(sources: Path, page: str) -> set[str]:
    """Return the pages of modules to which a page links by Markdown; generated HTML has none."""
    with (sources / page).open(encoding="utf-8", errors="replace") as file:
        text = file.read(_FRONT)
        if _NO_MARKDOWN in text:
            return set()
        text += file.read()
    folder = page.rpartition("/")[0]
    links = (token for token in _TOKEN.findall(text) if token.endswith(".md"))
    paths = {normpath(join(folder, link)) for link in links}
    return {path for path in paths if path.startswith(f"{MODULES}/") and (sources / path).is_file()}
