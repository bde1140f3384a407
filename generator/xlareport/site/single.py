"""A report in one HTML file: every page but those of other modules, and the data of these pages.

The pages are templates, the data blocks that no browser runs. The only scripts are those of the
site, each allowed by its hash.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from xlareport import units
from xlareport.dump.single_file import MARK
from xlareport.errors import UnreadableInputError, UnwritableFileError
from xlareport.pages import navigation
from xlareport.pages.environment import environment
from xlareport.payload import enclosed, read_payload
from xlareport.resources import resource
from xlareport.site.fitting import (
    LIMIT,
    Packed,
    Part,
    find_site,
    fitting,
    in_words,
    main_slug,
    rank,
)
from xlareport.site.one_page import Page
from xlareport.site.pack import NO_NOTES

_HOME = "index.html"
_MISSING = "left-out.html"
_SCRIPT = "assets/single.js"
_NOT_PAGES = ("404.html",)
_DATA = "assets/data/"
_MODULES = f"{_DATA}m"
_KEY_OF_PICTURE = re.compile(r"\bpictures/[\w.-]{1,200}")
_FACTS = ("schema", "generator", "dump", "main")
_NOTE = (
    f'<p class="xr-single-note md-grid"><a href="#page={_MISSING}">What is not in this file</a></p>'
)


def pack_single(
    report: Path, target: Path, limit: int = LIMIT, notes: Mapping[str, str] = NO_NOTES
) -> Packed:
    """Write a report as one HTML file of at most `limit` bytes that needs no other file.

    Raises UnreadableInputError where the pages alone are too large, and UnwritableFileError.
    """
    site = find_site(report)
    main = main_slug(site)
    pages = [Page(site, path) for path in _pages(site, main)]
    templates = "".join(page.template() for page in pages)
    head, scripts, foot = pages[0].frame(_script(site), _NOTE, MARK)
    facts = _block("report.json", _facts(site, main))
    others = _others(site, main)
    parts = list(_parts(site, main, templates))
    rest = _missing((*others, *in_words(parts)), notes)
    fixed = sum(len(one.encode()) for one in (head, templates, rest, scripts, facts, foot))
    kept, dropped = fitting(parts, limit, fixed)
    left_out = (*others, *in_words(dropped))
    missing = _missing(left_out, notes)
    blocks = (_block(one.path, _read(one)) for one in kept)
    try:
        _write(target, (head, templates, missing, scripts, facts, *blocks, foot))
    except OSError as error:
        raise UnwritableFileError(target, error) from error
    return Packed(target.stat().st_size, len(pages) + len(kept), left_out)


def _pages(site: Path, main: str | None) -> Iterator[str]:
    """Yield the paths of the pages, the home page first, without those of other modules."""
    of_main = (
        {navigation.address(page) for page in navigation.module_pages(main)} if main else set()
    )
    yield _HOME
    for location in sorted(site.rglob("*.html")):
        path = location.relative_to(site).as_posix()
        if path in (_HOME, *_NOT_PAGES) or (path.startswith("m/") and path not in of_main):
            continue
        yield path


def _others(site: Path, main: str | None) -> tuple[tuple[str, int], ...]:
    """Return what other modules have in the report, in words, and how many files that is."""
    kept = set(_pages(site, main))
    slugs = {one.name for one in (site / _MODULES).iterdir()} - {main}
    pages = [one for one in (site / "m").glob("*.html") if f"m/{one.name}" not in kept]
    data = [one for slug in slugs for one in (site / _MODULES / slug).iterdir()]
    words = f"pages and data of {units.plural(len(slugs), 'other module')}"
    return ((words, len(pages) + len(data)),) if slugs else ()


def _parts(site: Path, main: str | None, templates: str) -> Iterator[Part]:
    """Yield the data of the pages: of the front, of the main program, and pictures named there."""
    named = set(_KEY_OF_PICTURE.findall(templates)) | {navigation.PICTURE_LOOK}
    for location in sorted((site / _DATA).glob("*.js")):
        yield _part(site, location, main)
    for location in sorted((site / _MODULES / main).glob("*.js")) if main else ():
        named.update(_KEY_OF_PICTURE.findall(json.dumps(read_payload(location.read_text("ascii")))))
        yield _part(site, location, main)
    for key in sorted(named):
        location = site / f"{_DATA}{key}.js"
        if location.is_file():
            yield _part(site, location, main)


def _part(site: Path, location: Path, main: str | None) -> Part:
    path = location.relative_to(site).as_posix()
    made = Part(path, location, 0, rank(path, main))
    return replace(made, size=len(_block(path, _read(made))))


def _read(part: Part) -> str:
    """Return the data of a payload; raises UnreadableInputError where that is damaged."""
    try:
        return enclosed(part.location.read_text("ascii"))
    except ValueError as error:
        raise UnreadableInputError(f"{part.location} is damaged: {error}") from error


def _block(path: str, data: str) -> str:
    return f'<script type="application/json" id="{html.escape(path)}">{data}</script>\n'


def _facts(site: Path, main: str | None) -> str:
    """Return the facts of the report about its main program as JSON that is no markup."""
    report = json.loads((site / "report.json").read_text("utf-8"))
    facts = {name: report.get(name) for name in _FACTS}
    modules = [one for one in report["modules"] if one["slug"] == main]
    return json.dumps(facts | {"modules": modules}).replace("<", "\\u003c")


def _script(site: Path) -> str:
    file = site / _SCRIPT
    if not file.is_file():
        raise UnreadableInputError(f"{site} was built by an older xlareport; build it again.")
    return file.read_text("utf-8")


def _missing(left_out: Sequence[tuple[str, int]], notes: Mapping[str, str]) -> str:
    """Return the page that lists what is not in the file."""
    template = environment(resource("templates")).get_template("left_out.jinja")
    return template.render(page=_MISSING, left_out=left_out, notes=[*notes.values()])


def _write(target: Path, pieces: Iterable[str]) -> None:
    aside = target.with_name(f".{target.name}.part")
    try:
        with aside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
