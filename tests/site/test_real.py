"""Every kind of page of a real report, in a real browser, from file:// with the network off."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.accessibility import SCHEMES, narrow_width, violations_by_scheme
from tests.fixtures.browser import SIZE
from tests.walks import LONG_WALKS

pytestmark = pytest.mark.browser

MAIN = "m/module_0002.jit_train_step"
PAGES = (
    *("index.html", "modules.html", "program.html", "names.html", "coverage.html"),
    *("glossary.html", "guide/index.html", "guide/matching.html"),
    *(f"{MAIN}.html{part}" for part in ("", "?steps", "?cost", "?memory", "?source", "?code")),
    f"{MAIN}.html?texts",
)
READ = PAGES if LONG_WALKS else ("index.html", f"{MAIN}.html?memory")
"""Pages that axe looks at, which takes seconds for each; `test_browser.py` has steps too."""
LOOKED_AT = PAGES if LONG_WALKS else (*READ, "names.html", "guide/index.html", f"{MAIN}.html?steps")
"""Pages whose headings and widths are looked at, a second for each."""
LEVELS = """() => [...document.querySelectorAll('main :is(h1,h2,h3,h4,h5,h6)')]
    .filter(one => one.checkVisibility()).map(one => Number(one.tagName[1]))"""
SECOND = """() => [...document.querySelectorAll('main table.xr-static thead')]
    .filter(head => head.checkVisibility() && head.querySelectorAll('th').length > 1)
    .map(head => head.querySelectorAll('th')[1].getBoundingClientRect().right)"""
FOCUSED = (
    "document.activeElement.closest('dialog') !== null || document.activeElement === document.body"
)


@pytest.fixture
def opened(visitor: Any, real_site: Path) -> Iterator[Callable[[str], Page]]:
    """Return a function that opens a page of the report."""

    def open_page(name: str) -> Page:
        page: Page = visitor.open(f"{real_site.as_uri()}/{name}")
        return page

    yield open_page
    assert visitor.complaints == []
    assert visitor.outside() == []


@pytest.fixture
def seen(still: Any, real_site: Path) -> Callable[[str], Page]:
    """Return a function that shows a page of the report to a test that only looks at it."""
    return lambda name: still.look(f"{real_site.as_uri()}/{name}")  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", READ)
def test_everybody_can_read_it(seen: Callable[[str], Page], name: str) -> None:
    page = seen(name)
    expect(page.locator("h1").first).to_be_visible()
    schemes = SCHEMES if "memory" in name else ("light", "dark")
    assert violations_by_scheme(page, *schemes) == {}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_headings_are_in_order_and_it_fits_a_narrow_screen_and_twice_the_size(
    seen: Callable[[str], Page], name: str
) -> None:
    page = seen(name)
    levels = page.evaluate(LEVELS)
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for width in (400, 640):  # a screen of 1,280 at 200 % is 640 wide
        assert narrow_width(page, width) <= width


@pytest.mark.parametrize("name", ["index.html", f"{MAIN}.html?memory"])
def test_the_figure_beside_a_name_is_in_view_on_a_narrow_screen(
    opened: Callable[[str], Page], name: str
) -> None:
    page = opened(name)
    page.set_viewport_size({"width": 400, "height": 800})
    ends = page.evaluate(SECOND)
    page.set_viewport_size(SIZE)
    assert ends
    assert max(ends) <= 400


@pytest.mark.parametrize("key", ["?", "/"])
def test_the_focus_stays_in_what_is_open(opened: Any, key: str) -> None:
    page = opened("index.html")
    assert page.evaluate("scrollY") == 0
    page.keyboard.press(key)
    expect(page.locator("dialog[open]")).to_be_visible()
    for tab in ["Tab"] * 6 + ["Shift+Tab"] * 6:
        page.keyboard.press(tab)
        assert page.evaluate(FOCUSED)

    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_keys_lead_from_module_to_module(opened: Any) -> None:
    page = opened(f"{MAIN}.html")
    page.keyboard.press("]")
    expect(page.locator("h1")).to_contain_text("jit_add")
    page.wait_for_load_state()
    page.keyboard.press("[")
    expect(page.locator("h1")).to_contain_text("jit_train_step")


def test_what_the_keyboard_is_at_can_be_seen(seen: Callable[[str], Page]) -> None:
    page = seen(f"{MAIN}.html")
    page.locator(".xr-crumbs a").last.focus()
    for _ in range(3):
        page.keyboard.press("Tab")
        here = page.locator("*:focus")
        assert here.evaluate("one => getComputedStyle(one).outlineStyle") != "none"


def test_it_prints_without_what_is_for_the_screen(opened: Any) -> None:
    page = opened(f"{MAIN}.html?cost")
    page.emulate_media(media="print")

    expect(page.locator(".md-header")).to_be_hidden()
    expect(page.locator(".xr-treemap")).to_be_visible()
    assert page.pdf().startswith(b"%PDF")


BROKEN = """() => [...document.querySelectorAll("table.xr-data thead th")].flatMap((head) => {
  const broken = [];
  const walk = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    for (const word of text.data.matchAll(/\\w+/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) broken.push(word[0]);
    }
  }
  return broken;
})"""
"""The words of headings of tables that stand in two lines."""


def test_paper_breaks_no_word_of_a_heading_and_cuts_no_sentence(opened: Any) -> None:
    page = opened(f"{MAIN}.html?memory")
    page.set_viewport_size({"width": 760, "height": 1000})
    page.emulate_media(media="print")
    expect(page.locator("table.xr-data thead th").first).to_be_visible()
    assert page.evaluate(BROKEN) == []
    page = opened(f"{MAIN}.html")
    page.emulate_media(media="print")
    clamp = "getComputedStyle(document.querySelector('.xr-clamped')).webkitLineClamp"
    assert page.evaluate(clamp) == "none"


def test_paper_is_light_and_holds_what_is_on_it(opened: Any) -> None:
    """On a dark screen too; nothing is cut at its edge."""
    parts = ("?steps", "?cost", "", "?memory", "?passes")
    for part in parts[: None if LONG_WALKS else 2]:
        page = opened(f"{MAIN}.html{part}")
        page.set_viewport_size({"width": 760, "height": 1000})
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        wide = page.evaluate(
            "[...document.querySelectorAll('article table, article svg, article p')]"
            ".filter((each) => each.getBoundingClientRect().right > innerWidth + 1)"
            ".map((each) => each.outerHTML.slice(0, 80))"
        )
        assert (paper, wide) == ("rgb(255, 255, 255)", []), part


def test_an_instruction_in_a_table_of_any_tab_leads_to_its_history(opened: Any) -> None:
    page = opened(f"{MAIN}.html?cost")
    link = page.locator("tr[data-row] a.xr-word[href*='#i=']").first
    name = link.inner_text()
    link.click()

    expect(page.locator(".xr-history")).to_contain_text(name)


def test_the_home_page_answers_on_one_screen(seen: Callable[[str], Page]) -> None:
    page = seen("index.html")
    page.evaluate("scrollTo(0, 0)")
    last = page.locator(".xr-answers dd").last.bounding_box()

    assert last
    assert last["y"] + last["height"] < 900


def test_the_overview_of_a_module_fits_a_screen_and_all_of_it_two(
    seen: Callable[[str], Page],
) -> None:
    """Screens as the other tests have them: all but the foot of the page."""
    page = seen(f"{MAIN}.html")
    page.evaluate("scrollTo(0, 0)")
    assert page.viewport_size == SIZE
    curve = page.locator(".xr-beside .xr-chart").bounding_box()
    article = page.locator("article").bounding_box()

    assert curve
    assert curve["y"] + curve["height"] < 900
    assert article
    assert article["y"] + article["height"] < 2 * 900


def test_places_that_a_step_leaves_out_open_their_own_pictures(opened: Any) -> None:
    page = opened(f"{MAIN}.html?steps#step=0019")
    page.locator(".xr-left-out > summary").click()
    places = page.locator(".xr-left-out details")
    expect(places).to_have_count(3)
    for number in range(3):
        place = places.nth(number)
        place.locator("> summary").click()
        expect(place.locator("figure svg")).to_have_count(2)
        expect(
            place.locator("figure g.n:is(.s-changed, .s-added, .s-removed)").first
        ).to_be_visible()
