"""The report of a dump that tries everything: nothing of it runs, loads or becomes markup."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.parts import parts
from tests.report_files import paths_of

from xlareport.dump.source import as_utf8

FRONT = ("index.html", "modules.html", "names.html", "coverage.html", "glossary.html")
FOUND = """() => [...document.querySelectorAll('*')].flatMap((one) => [
  /xss/i.test(one.localName) ? `element ${one.localName}` : [],
  [...one.attributes].flatMap(({name, value}) => [
    /^(on|xss)/i.test(name) ? `attribute ${name} of ${one.localName}` : [],
    /^((xlink:)?href|src|action|data)$/i.test(name)
      && !['file:', 'data:'].includes(new URL(value, location.href).protocol) ? `to ${value}` : [],
  ]).flat(),
]).flat()"""


class Markup(HTMLParser):
    """Collects what a page consists of."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [name for name in (tag, *(name for name, _ in attrs)) if _is_hostile(name)]
        self.found += [str(value) for name, value in attrs if _leads(name) and _acts(value or "")]


def _leads(name: str) -> bool:
    return name.endswith(("href", "src", "action", "data", "poster"))


def _acts(address: str) -> bool:
    return re.match(r"\s*(javascript|data:text|vbscript|https?)\b", address) is not None


def _is_hostile(name: str) -> bool:
    return "xss" in name or name.startswith("on") or name == "foreignobject"


def markup(text: str) -> list[str]:
    """Return what of a text is markup of the dump, or leads out."""
    read = Markup()
    read.feed(text)
    return read.found


def test_no_page_and_no_picture_holds_markup_of_the_dump(hostile_out: Path) -> None:
    files = [*(hostile_out / "site").rglob("*.html"), *(hostile_out / "site").rglob("*.svg")]
    assert len(files) > 100
    for path in files:
        assert markup(path.read_text("utf-8")) == [], path


def test_no_part_of_a_page_holds_markup_of_the_dump(hostile_out: Path) -> None:
    found = dict(parts(hostile_out / "site"))
    assert len(found) > 100
    for address, html in found.items():
        assert markup(html) == [], address
        assert "<script" not in html, address


def test_payloads_end_no_script_and_no_line(hostile_out: Path) -> None:
    for path in (hostile_out / "site/assets/data").rglob("*.js"):
        script = path.read_text("ascii")
        assert script.count("\n") == 1, path
        assert "<" not in script, path


def test_nothing_is_written_outside(hostile_out: Path) -> None:
    assert {path.name for path in hostile_out.iterdir()} <= {
        *(".cache", "mkdocs.yml", "site", "site_src")
    }
    assert not [path for path in hostile_out.rglob("*") if path.is_symlink()]
    assert not list(hostile_out.parents[1].rglob("xss-path*"))


def test_every_file_is_listed(hostile_out: Path, hostile_dump: Path) -> None:
    import json

    report = json.loads((hostile_out / "site/report.json").read_text("utf-8"))
    listed = {*paths_of(report)}
    there = [path for path in hostile_dump.rglob("*") if path.is_file()]
    assert len({as_utf8(str(path.relative_to(hostile_dump))) for path in there} & listed) == len(
        there
    )
    assert all(module["files"] or module["stages"] for module in report["modules"])
    assert not [
        problem for problem in report["problems"] if "a fault of xlareport" in problem["message"]
    ]
    slugs = [module["slug"] for module in report["modules"]]
    assert len(slugs) == len(set(slugs))
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,99}", slug) for slug in slugs)


@pytest.fixture
def watched(visitor: Any, hostile_out: Path) -> Any:
    """Return a visitor whose pages may complain of nothing and load nothing from elsewhere."""
    visitor.context.add_init_script("window.hacked = 0")
    yield visitor
    assert visitor.complaints == []
    assert visitor.outside() == []
    root = hostile_out.as_uri()
    assert [url for url in visitor.requests if url.startswith("file:") and root not in url] == []


@pytest.mark.browser
def test_hostile_names_can_be_searched_and_read(watched: Any, hostile_out: Path) -> None:
    page = watched.open((hostile_out / "site/modules.html").as_uri())
    page.locator("input.xr-filter").fill("<xss-tag>")
    page.wait_for_timeout(100)
    row = page.locator("[data-xr-table] tbody tr[data-row]").first
    assert "<xss-tag>" in row.inner_text()
    row.locator("a").first.click()
    page.wait_for_load_state()
    assert "<xss-tag>" in page.locator("h1").inner_text()
    assert page.evaluate("window.hacked") == 0
