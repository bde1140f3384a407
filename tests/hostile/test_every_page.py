"""Pages of a hostile report, opened and used in a browser: nothing runs, nothing leaves.

With XLAREPORT_EVERY_PAGE in the environment every page and part is visited, which takes a quarter
of an hour; on a long walk one of some forty, of all kinds; else a few of those.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.hostile.conftest import ATTACKS
from tests.hostile.test_report import FOUND, FRONT
from tests.parts import parts
from tests.walks import LONG_WALKS

if TYPE_CHECKING:
    from playwright.sync_api import Page

STEP = 1 if "XLAREPORT_EVERY_PAGE" in os.environ else 41 if LONG_WALKS else 197
"""A prime: pages lie in an order of modules with a handful each, so all kinds are met."""
TRAP = """Object.defineProperty(window, 'hacked', {
  get: () => 0, set: () => console.error('A script of the dump ran.'),
})"""
USE = """async () => {
  const rest = (ms) => new Promise((done) => setTimeout(done, ms));
  const things = 'summary, button, [tabindex], .xr-item, [data-word], [data-meaning], [data-node],'
    + ' input, select';
  const seen = new Set();
  for (let round = 0; round < 3; round++) {
    const fresh = [...document.querySelectorAll(things)].filter((one) => !seen.has(one));
    for (const one of fresh.slice(0, 40)) {
      seen.add(one);
      for (const name of ['mouseover', 'mouseenter', 'focusin'])
        one.dispatchEvent(new Event(name, {bubbles: true}));
      if (one.localName === 'input') {
        one.value = '<';
        one.dispatchEvent(new Event('input', {bubbles: true}));
      } else if (!one.closest('a:not([href^="#"])'))
        one.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
    }
    await rest(20);
  }
}"""
"""Points at, focuses and clicks what leads to no other page, and what appears then."""
POLICY = "document.querySelector('meta[http-equiv=Content-Security-Policy]')?.content ?? ''"


@pytest.fixture
def watched(visitor: Any) -> Iterator[Any]:
    """Return a visitor that hears of every script of the dump that runs, and of every request."""
    visitor.context.add_init_script(TRAP)
    yield visitor
    # a click on what is not shown gives a picture no size
    assert [
        complaint for complaint in visitor.complaints if "attribute viewBox" not in complaint
    ] == []
    assert visitor.outside() == []


def used(page: "Page", dialogs: list[str]) -> list[str]:
    """Use a page; return what is wrong with it. What runs, the visitor hears."""
    wrong = [*page.evaluate(FOUND)]
    if not page.evaluate(POLICY).startswith("default-src 'none'"):
        wrong.append("no policy")
    if page.title().startswith("xss-title"):
        wrong.append("a title of the dump")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.evaluate(USE)
    wrong += page.evaluate(FOUND)
    wrong += ["a failure"] * page.locator(".xr-failed").count()
    return [f"{page.url}: {one}" for one in (*wrong, *dialogs)]


@pytest.mark.browser
def test_no_page_of_a_hostile_report_acts(hostile_out: Path, watched: Any) -> None:
    site = hostile_out / "site"
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    pages = sorted([*pages, *(address for address, _ in parts(site))])
    assert len(pages) > 400
    dialogs: list[str] = []
    watched.context.on("dialog", lambda one: (dialogs.append(one.message), one.dismiss()))
    some = sorted({*FRONT, *pages[::STEP]})
    walk = watched.walk(f"{site.as_uri()}/{page}" for page in some)
    assert [wrong for page in walk for wrong in used(page, dialogs)] == []


@pytest.mark.browser
def test_a_script_that_runs_would_be_heard(tmp_path: Path, visitor: Any) -> None:
    visitor.context.add_init_script(TRAP)
    (tmp_path / "x.html").write_text("<p><script>hacked++</script>")
    visitor.open((tmp_path / "x.html").as_uri())
    assert visitor.complaints == ["A script of the dump ran."]


@pytest.mark.browser
def test_names_that_are_searched_for_do_not_act(hostile_out: Path, watched: Any) -> None:
    page: Page = watched.open((hostile_out / "site/modules.html").as_uri())
    for attack in ATTACKS.values():
        page.locator("[data-md-component=search-query]").evaluate(
            "(field, text) => { field.value = text; field.dispatchEvent(new Event('keyup')); }",
            attack,
        )
        assert page.evaluate(FOUND) == []


def test_titles_are_those_of_the_settings(hostile_out: Path) -> None:
    report = json.loads((hostile_out / "site/report.json").read_text("utf-8"))
    assert report["dump"]["path"] == ATTACKS["script"]
    assert "script" not in (hostile_out / "mkdocs.yml").read_text()
