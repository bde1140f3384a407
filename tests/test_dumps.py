"""Every large dump: a whole report, every file listed, every link there, report.json valid."""

import json
import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from tests.conftest import paths_of

from xlareport.report import BuildOptions, build
from xlareport.resources import PACKAGE


def names() -> list[str]:
    folder = os.environ.get("XLAREPORT_DUMPS")
    return sorted(path.name for path in Path(folder).iterdir()) if folder else []


class Page(HTMLParser):
    """Collects what a page links to and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in {"href", "src"} and value:
                self.links.append(value)


def broken_links(site: Path) -> Iterator[tuple[str, str]]:
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            fragment = unquote(parts.fragment)
            anchor = fragment if "=" not in fragment else ""  # `#step=0017` is a page's state
            outside = parts.scheme or parts.netloc
            if outside or not target.exists() or (anchor and anchor not in pages[target].anchors):
                yield path.name, link


@pytest.mark.parametrize("name", names())
def test_a_dump_becomes_a_whole_report(name: str, dumps: Path, tmp_path: Path) -> None:
    dump = dumps / name / name
    build(dump, BuildOptions(out=tmp_path, jobs=2))
    report = json.loads((tmp_path / "site/report.json").read_text("utf-8"))
    jsonschema.validate(report, json.loads((PACKAGE / "pages/report.schema.json").read_text()))
    on_disk = {path.relative_to(dump).as_posix() for path in dump.rglob("*") if path.is_file()}
    assert on_disk <= {*paths_of(report)}
    assert list(broken_links(tmp_path / "site")) == []
    assert report["problems"] == []
    assert report["main"]
