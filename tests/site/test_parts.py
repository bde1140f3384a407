"""The parts of a module's page: what `x.html?cost` shows in the place of the overview."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.links import broken_links
from tests.successor import of_mkdocs
from tests.walks import LONG_WALKS

from xlareport.pages.rendering.environment import front_matter, text
from xlareport.pages.rendering.templates import html_of
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile

pytestmark = pytest.mark.browser

MAIN = "m/module_0002.jit_train_step.html"
CONTENTS = ".md-nav--secondary .md-nav__link"
HEADINGS = f"""# Cost of {text("<b>**`a_b`** [x](y) {#z} </script> &amp; %0a")}

<p>*not* **Markdown**</p>

## By opcode

### By opcode

<p>the end</p>
"""


@of_mkdocs
def test_a_part_is_what_mkdocs_makes_of_the_same_on_a_page(
    tmp_path: Path, few_pages: list[SiteFile]
) -> None:
    page = ("m/x.md", f"{front_matter(title='x', search=False)}{HEADINGS}")
    write_sources(
        tmp_path, [*(few_page for few_page in few_pages if few_page[0] != "m/x.md"), page]
    )
    build_site(tmp_path)
    built = (tmp_path / "site/m/x.html").read_text("utf-8")
    (article,) = re.findall(r"<article[^>]*>(.*)</article>", built, re.DOTALL)

    assert article.split() == html_of(HEADINGS).split()


@pytest.fixture
def opened(visitor: Any, real_site: Path) -> Iterator[Callable[[str], Page]]:
    """Return a function that opens the page of the main program; nothing may be complained of."""

    def open_page(behind: str) -> Page:
        page: Page = visitor.open(f"{real_site.as_uri()}/{MAIN}{behind}")
        return page

    yield open_page
    assert visitor.complaints == []
    assert visitor.outside() == []


def test_every_link_of_a_page_and_a_part_leads_to_what_is_there(
    real_site: Path, tmp_path: Path
) -> None:
    assert list(broken_links(real_site)) == []
    shutil.copytree(real_site, tmp_path / "site")
    (tmp_path / f"site/assets/data/{MAIN.removesuffix('.html')}/small.js").unlink()
    broken = set(broken_links(tmp_path / "site"))
    assert ("index.html", f"{MAIN}?cost") in broken


def test_every_tab_leads_to_its_part_and_back(opened: Any) -> None:
    page = opened("")
    tabs = page.locator(".xr-tabs a")
    assert tabs.all_inner_texts() == [
        *("Overview", "Steps", "Cost", "Memory", "Skeleton", "Graph"),
        *("Passes", "Source", "Code", "HLO", "Files"),
    ]
    for label in tabs.all_inner_texts()[1 :: 1 if LONG_WALKS else 3]:
        page.locator(".xr-tabs").get_by_role("link", name=label).click()
        page.wait_for_selector("[aria-busy]", state="detached")
        expect(page.locator(".xr-tabs [aria-current=page]")).to_have_text(label)
        expect(page.locator("h1")).to_have_count(1)
        expect(page.locator("h1")).to_contain_text("jit_train_step")
    page.go_back()
    expect(page.locator("h1")).to_contain_text(re.compile("(HLO|Source) of jit_train_step"))


def test_a_part_has_a_title_and_a_table_of_contents(opened: Any) -> None:
    page = opened("?memory")
    expect(page).to_have_title("Memory of jit_train_step - XLA report")
    expect(page.locator("[data-md-component=header-topic]")).to_contain_text("Memory of")
    headings = page.locator("article :is(h2, h3)[id]").all()
    links = page.locator(CONTENTS).all()
    assert [link.get_attribute("href") for link in links] == [
        f"#{heading.get_attribute('id')}" for heading in headings
    ]
    nested = page.locator(".md-nav--secondary .md-nav .md-nav__link")
    assert nested.count() == page.locator("article h3[id]").count() > 0
    page.locator(".xr-contents a", has_text="Rematerialization").click()
    expect(page.locator("#rematerialization")).to_be_in_viewport()
    assert page.url.endswith("?memory#rematerialization")


def until(page: Page, expression: str) -> None:
    """Wait until it is true; the page's policy forbids what Playwright does for that."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}")


def test_an_anchor_of_a_part_is_an_address_and_who_comes_back_is_where_he_was(opened: Any) -> None:
    page = opened("?cost#by-computation")
    expect(page.locator("#by-computation")).to_be_in_viewport()
    expect(page.locator(".xr-contents")).to_be_visible()
    expect(page.locator("table.xr-data").first).to_be_visible()
    page.evaluate("document.querySelector('#by-opcode').scrollIntoView()")
    there = page.evaluate("scrollY")
    page.locator(".xr-tabs").get_by_role("link", name="Memory").evaluate("one => one.click()")
    expect(page.locator("h1")).to_contain_text("Memory of")
    page.go_back()
    until(page, f"Math.abs(scrollY - {there}) < 2")
    expect(page.locator("#by-opcode")).to_be_in_viewport()


def test_nothing_of_one_part_is_loaded_for_another(visitor: Any, opened: Any) -> None:
    expect(opened("?graph").locator(".xr-picture svg").first).to_be_visible()
    assert any("/assets/data/pictures/" in url for url in visitor.requests)
    visitor.requests.clear()
    opened("?texts")
    data = [url.partition("/assets/data/")[2] for url in visitor.requests]
    assert any(one.startswith("m/") for one in data)
    assert not any(one.startswith("pictures/") for one in data)


def test_a_wide_part_has_the_room_of_the_sides(opened: Any) -> None:
    expect(opened("?steps").locator(".md-sidebar--secondary")).to_be_hidden()


NO_PARTS = ("constructor", "%3Cb%3E", "nothing", "..%2Fsteps", "page-cost")


@pytest.mark.parametrize("name", NO_PARTS[: None if LONG_WALKS else 2])
def test_what_is_no_part_is_named_and_leads_to_the_overview(opened: Any, name: str) -> None:
    page = opened(f"?{name}")
    expect(page.locator("article [role=alert]")).to_contain_text("has no tab")
    expect(page.locator("article b")).to_have_count(0)
    page.get_by_role("link", name="The overview of the module").click()
    expect(page.locator("h1")).to_have_text(re.compile("^jit_train_step"))


def test_a_query_of_others_shows_the_overview(opened: Any) -> None:
    page = opened("?token=steps&x=y")
    expect(page.locator("h1")).to_have_text(re.compile("^jit_train_step"))


def test_a_part_whose_data_are_missing_says_so(
    visitor: Any, sample_site: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_site, tmp_path / "site")
    (tmp_path / "site/assets/data/m/sample/small.js").unlink()
    page = visitor.open(f"{(tmp_path / 'site').as_uri()}/m/sample.html?steps")
    expect(page.locator("article [role=alert]")).to_contain_text("is missing from this report")
    expect(page.locator(".xr-tabs [aria-current=page]")).to_have_text("Steps")


def test_the_overview_is_never_shown_first(visitor: Any, sample_site: Path) -> None:
    visitor.context.add_init_script(
        """window.seen = [];
        const look = () => {
          const title = document.querySelector('h1');
          if (title?.checkVisibility()) window.seen.push(title.id);
          requestAnimationFrame(look);
        };
        requestAnimationFrame(look);"""
    )
    page = visitor.open(f"{sample_site.as_uri()}/m/sample.html?steps")
    own = page.locator("h1").get_attribute("id")
    until(page, "window.seen.length > 2")
    assert set(page.evaluate("window.seen")) == {own}
    assert str(own).startswith("steps-of")


def test_without_scripts_the_page_says_what_they_are_needed_for(
    browser: Any, real_site: Path
) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(f"{real_site.as_uri()}/{MAIN}?cost")
    expect(page.locator("h1")).to_contain_text("jit_train_step")
    expect(page.locator(".xr-noscript")).to_contain_text("overview")
    context.close()


MORE_TABS = """tabs => {
    for (let i = 0; i < 4; i += 1) tabs.append(tabs.lastElementChild.cloneNode(true));
}"""
"""As many as a module on several GPUs has."""


def test_the_tabs_are_one_line(opened: Any) -> None:
    page = opened("")
    tabs = page.locator(".xr-tabs")
    tabs.evaluate(MORE_TABS)
    for width in (700, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        assert tabs.bounding_box()["height"] < 50
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert tabs.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_the_tabs_are_one_line_on_a_narrow_screen_and_are_not_printed(
    visitor: Any, real_site: Path
) -> None:
    page = visitor.context.new_page()
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{(real_site / MAIN).as_uri()}?files")
    page.wait_for_selector("[aria-busy]", state="detached")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.locator(".xr-tabs").bounding_box()["height"] < 50
    current = page.locator(".xr-tabs [aria-current=page]")
    expect(current).to_be_in_viewport(ratio=0.9)
    page.mouse.wheel(0, 400)
    expect(current).to_be_in_viewport(ratio=0.9)
    page.emulate_media(media="print")
    expect(page.locator(".xr-tabs")).to_be_hidden()
    expect(page.locator("h1")).to_be_visible()
