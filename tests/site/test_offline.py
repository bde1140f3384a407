"""The built site, read as files: nothing in it loads anything from outside."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.successor import ZENSICAL

LOADING = {
    ("script", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("iframe", "src"),
    ("frame", "src"),
    ("embed", "src"),
    ("object", "data"),
    ("source", "src"),
    ("video", "src"),
    ("audio", "src"),
    ("link", "href"),
    ("use", "href"),
    ("image", "href"),
    ("image", "xlink:href"),
    ("form", "action"),
    ("base", "href"),
}
OUTSIDE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//|^(?!data:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
STYLE_LOADS = re.compile(r"@import\s+([^;]+)|url\(\s*[\"']?([^\"')]+)", re.IGNORECASE)


class References(HTMLParser):
    """Collects what a page loads, what it links to, and its event handlers."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.handlers: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in LOADING and ("rel", "canonical") not in attrs:
                self.loads.append(value or "")
            if name == "style":
                self.loads += style_loads(value or "")
            if tag == "a" and name == "href":
                self.links.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
            if name == "id":
                self.ids.add(value or "")


def style_loads(text: str) -> list[str]:
    return [(rule or address).strip() for rule, address in STYLE_LOADS.findall(text)]


def read(page: Path) -> References:
    references = References()
    references.feed(page.read_text())
    return references


def pages(site: Path) -> Iterator[Path]:
    yield from site.rglob("*.html")


def test_no_page_loads_anything_from_outside(sample_site: Path) -> None:
    found = {
        page.name: list(filter(OUTSIDE.match, read(page).loads)) for page in pages(sample_site)
    }

    assert found
    assert not any(found.values()), found


@pytest.mark.parametrize("kind", ["css", "svg"])
def test_no_style_or_picture_loads_anything_from_outside(sample_site: Path, kind: str) -> None:
    hostile = {"graph.svg"}  # the sample's own, which the page script has to disarm
    files = [path for path in sample_site.rglob(f"*.{kind}") if path.name not in hostile]
    found = [one for path in files for one in style_loads(path.read_text()) if OUTSIDE.match(one)]

    assert files
    assert found == []


def test_no_page_has_an_event_handler(sample_site: Path) -> None:
    assert [page.name for page in pages(sample_site) if read(page).handlers] == []


def test_every_link_and_every_file_that_is_loaded_is_there(sample_site: Path) -> None:
    missing = []
    for page in pages(sample_site):
        found = read(page)
        for reference in found.loads + found.links:
            parts = urlsplit(reference)
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if parts.scheme not in {"", "data"} or (parts.scheme == "" and not target.exists()):
                missing.append((page.name, reference))
    assert missing == []


def test_there_are_no_source_maps_and_no_site_map(sample_site: Path) -> None:
    assert list(sample_site.rglob("*.map")) == []
    assert list(sample_site.rglob("sitemap*")) == []


def test_modules_are_not_in_the_search_of_the_prose(sample_site: Path) -> None:
    name, key = ("search.json", "items") if ZENSICAL else ("search/search_index.json", "docs")
    index = json.loads((sample_site / name).read_text())
    places = {entry["location"].partition("#")[0] for entry in index[key]}

    assert {"index.html", "glossary.html"} <= places
    assert not any(place.startswith("m/") for place in places)


def test_the_fixed_part_is_small(sample_site: Path) -> None:
    data = sample_site / "assets/data"
    files = (path for path in sample_site.rglob("*") if path.is_file() and data not in path.parents)

    assert sum(path.stat().st_size for path in files) < 6_000_000
