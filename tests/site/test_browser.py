"""The pages in a real browser, from file:// with the network off."""

import re
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.accessibility import narrow_width, violations_by_scheme
from tests.successor import ZENSICAL, of_mkdocs

pytestmark = pytest.mark.browser

PAGES = (
    "index.html",
    "modules.html",
    "guide/index.html",
    "m/sample.html",
    "m/sample.html?steps",
    "404.html",
)
STEP = ".xr-step"
ITEM = ".xr-item[aria-current]"


@pytest.fixture
def opened(visitor: Any, sample_site: Path) -> Any:
    """Return a function that opens a page of the sample."""

    def open_page(name: str) -> Page:
        page: Page = visitor.open(f"{sample_site.as_uri()}/{name}")
        return page

    yield open_page
    assert visitor.complaints == []
    assert visitor.outside() == []
    assert all(page.evaluate("typeof hacked") == "undefined" for page in visitor.pages)


@pytest.fixture
def seen(still: Any, sample_site: Path) -> Any:
    """Return a function that shows a page of the sample to a test that only looks at it."""
    yield lambda name: still.look(f"{sample_site.as_uri()}/{name}")
    assert all(page.evaluate("typeof hacked") == "undefined" for page in still.pages)


@pytest.fixture
def table(seen: Any) -> Page:
    """Return the page with the whole table, at its first row: a test may filter and scroll it."""
    page: Page = seen("m/sample.html")
    page.get_by_placeholder("Filter").fill("")
    expect(page.locator(".xr-count")).to_have_text("10,002 rows")
    page.locator(".xr-table-scroll").evaluate("box => box.scrollTop = 0")
    return page


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_without_a_complaint(still: Any, seen: Any, name: str) -> None:
    page = seen(name)
    page.wait_for_function("document.readyState === 'complete'")
    page.evaluate("document.fonts.ready.then(() => true)")

    expect(page.locator("h1").first).to_be_visible()
    assert narrow_width(page) <= 400
    assert still.complaints == []


@of_mkdocs
def test_search_finds_prose_from_a_file(opened: Any) -> None:
    page = opened("m/sample.html")
    page.keyboard.press("s")
    page.keyboard.type("instructions")
    results = page.locator(".md-search-result__item")

    expect(results.first).to_be_visible()
    expect(results.filter(has_text="Glossary")).to_have_count(1)


class TestTable:
    def test_only_rows_in_sight_are_drawn(self, table: Page) -> None:
        rows = table.locator(".xr-data tr[data-row]")
        expect(rows.first).to_contain_text("fusion.0")
        assert rows.count() < 120

        table.locator(".xr-table-scroll").evaluate(
            "one => one.scrollTop = 3000 * one.querySelector('tr[data-row]').offsetHeight"
        )
        expect(table.locator("tr[data-row='3000']")).to_be_visible()
        assert rows.count() < 120

    def test_it_filters_and_sorts_and_its_address_says_so(self, opened: Any) -> None:
        page = opened("m/sample.html")
        page.get_by_placeholder("Filter").fill("FUSION.49 jit")
        expect(page.locator(".xr-count")).to_have_text("111 of 10,002 rows")

        page.get_by_role("button", name="Size", exact=True).click()
        expect(page.locator("th[aria-sort=descending]")).to_contain_text("Size")
        expect(page.locator("tr[data-row]").first).to_contain_text("fusion.4999")
        again = opened(page.url.rpartition("/site/")[2])
        expect(again.locator("tr[data-row]").first).to_contain_text("fusion.4999")
        expect(again.get_by_placeholder("Filter")).to_have_value("FUSION.49 jit")

    def test_names_sort_as_people_count(self, seen: Any) -> None:
        page = seen("m/sample.html#t=m/sample/instructions&q=fusion.1&s=0a")
        first = page.locator("tr[data-row]")

        assert [first.nth(row).locator("td").first.inner_text() for row in range(3)] == [
            "fusion.1",
            "fusion.10",
            "fusion.11",
        ]

    def test_nothing_found_says_so_and_offers_a_way_back(self, table: Page) -> None:
        table.get_by_placeholder("Filter").fill("no such thing")
        expect(table.locator(".xr-empty")).to_contain_text("No row contains")

        table.get_by_role("button", name="Show all rows").click()
        expect(table.locator(".xr-count")).to_have_text("10,002 rows")

    def test_a_hostile_row_is_text_and_its_links_lead_nowhere(
        self, table: Page, hostile: str
    ) -> None:
        table.get_by_placeholder("Filter").fill("onerror")
        row = table.locator("tr[data-row]")

        expect(row.locator("td").first).to_have_text(hostile)
        expect(row.locator(".xr-unknown")).to_have_text("\N{EN DASH}")
        assert row.locator("a").get_attribute("href") is None
        table.get_by_placeholder("Filter").fill("out")
        assert table.locator("tr[data-row] a").first.get_attribute("href") is None

    def test_columns_are_chosen_and_the_address_says_which(self, opened: Any) -> None:
        page = opened("m/sample.html")
        page.locator(".xr-columns > summary").click()
        page.get_by_role("checkbox", name="Grade").uncheck()
        expect(page.locator(".xr-data thead th")).to_have_count(3)
        expect(page.locator(".xr-columns > summary")).to_have_text("Columns: 3 of 4")

        again = opened(page.url.rpartition("/site/")[2])
        expect(again.locator(".xr-data thead th")).to_have_count(3)

    def test_a_narrow_window_begins_with_three_columns(self, opened: Any) -> None:
        page = opened("m/sample.html")
        page.set_viewport_size({"width": 400, "height": 800})
        page.reload()
        expect(page.locator(".xr-data thead th")).to_have_count(3)
        expect(page.locator(".xr-columns > summary")).to_have_text("Columns: 3 of 4")

    def test_rows_that_match_are_saved(self, table: Page) -> None:
        table.get_by_placeholder("Filter").fill("fusion.4999")
        expect(table.locator(".xr-count")).to_contain_text("1 of")
        with table.expect_download() as saved:
            table.get_by_role("button", name="CSV").click()
        lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
        assert lines == ["Name,Size,Module,Grade", "fusion.4999,5118976,jit,exact"]

    def test_the_key_of_the_browsers_search_goes_to_the_filter(self, table: Page) -> None:
        table.locator(".xr-table-scroll").focus()
        table.keyboard.press("Control+f")
        expect(table.get_by_placeholder("Filter")).to_be_focused()

    def test_rows_are_of_one_line_and_the_whole_text_is_under_the_pointer(
        self, table: Page, hostile: str
    ) -> None:
        table.get_by_placeholder("Filter").fill("onerror")
        expect(table.locator(".xr-count")).to_contain_text("1 of")
        cell = table.locator("tr[data-row] td").first
        box = cell.bounding_box()
        assert box
        assert box["height"] < 40
        cell.hover()
        expect(table.locator("#xr-tip")).to_contain_text(hostile)

    def test_arrow_keys_go_from_row_to_row(self, table: Page) -> None:
        table.locator(".xr-table-scroll").focus()
        table.keyboard.press("ArrowDown")
        table.keyboard.press("ArrowDown")
        expect(table.locator(".xr-row-details")).to_contain_text("fusion.1")

    def test_a_row_can_be_read_in_full(self, table: Page) -> None:
        table.locator("tr[data-row='2']").click()

        expect(table.locator(".xr-row-details")).to_contain_text("fusion.2")


def settled(svg: Any) -> str | None:
    """Return the part of a picture that is shown, once it has stopped to change."""
    before, now = None, svg.get_attribute("viewBox")
    while now != before:
        svg.page.wait_for_timeout(250)
        before, now = now, svg.get_attribute("viewBox")
    return now


class TestPicture:
    def test_it_stands_in_the_page(self, seen: Any) -> None:
        page = seen("m/sample.html")

        expect(page.locator(".xr-canvas svg g.n")).to_have_count(1)
        expect(page.locator(".xr-picture img")).to_have_count(0)

    def test_nothing_in_it_acts_or_loads(self, visitor: Any, sample_site: Path) -> None:
        page = visitor.open(f"{sample_site.as_uri()}/m/hostile.html")
        svg = page.locator(".xr-canvas svg")
        expect(svg.locator("g.n")).to_have_count(1)
        known = "title, desc, style, rect, g, text, tspan, path, circle"

        assert svg.locator(f":not({known})").count() == 0
        assert page.evaluate("typeof hacked") == "undefined"
        assert visitor.outside() == []

    def test_it_can_be_enlarged_moved_and_shown_whole_again(self, seen: Any) -> None:
        page = seen("m/sample.html")
        svg = page.locator(".xr-canvas svg")
        # Narrower than the canvas, the picture is centered as soon as its room is known.
        expect(svg).to_have_attribute("viewBox", re.compile(r"^-\d"))
        whole = settled(svg)
        page.get_by_role("button", name="Larger").click()
        larger = svg.get_attribute("viewBox")
        assert larger != whole

        page.locator(".xr-canvas").press("ArrowRight")
        assert svg.get_attribute("viewBox") != larger
        page.locator(".xr-canvas").press("0")
        assert svg.get_attribute("viewBox") == whole

    def test_its_colors_follow_the_page(self, seen: Any) -> None:
        page = seen("m/sample.html")
        fill = "one => getComputedStyle(one).fill"
        box = page.locator(".xr-canvas .n > .box")
        light = box.evaluate(fill)
        page.locator("body").evaluate("one => one.dataset.mdColorScheme = 'slate'")
        dark = box.evaluate(fill)
        page.locator("body").evaluate("one => one.dataset.mdColorScheme = 'default'")

        assert dark != light

    def test_it_can_be_saved(self, seen: Any) -> None:
        page = seen("m/sample.html")
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as .svg").click()

        assert download.value.suggested_filename == "m-sample-graph.svg"
        saved = download.value.path().read_text("utf-8")
        assert ET.fromstring(saved).tag.endswith("svg")  # noqa: S314 - our own text
        assert "prefers-color-scheme:dark" in saved


class TestSteps:
    def test_the_first_that_changed_something_is_shown(self, opened: Any, hostile: str) -> None:
        page = opened("m/sample.html?steps")

        expect(page.locator(STEP)).to_contain_text(f"%two became one {hostile.replace('`', '')}")
        expect(page.locator(".xr-group-title")).to_have_text(f"Removed {hostile}")
        expect(page.locator(".xr-group-head th")).to_contain_text(hostile)
        assert page.url.endswith("#step=0003")

    def test_an_address_leads_to_its_step(self, opened: Any) -> None:
        page = opened("m/sample.html?steps#step=0004")

        expect(page.locator(STEP)).to_contain_text("Too large to draw.")
        expect(page.locator(ITEM)).to_be_visible()

    def test_keys_go_to_the_steps_that_changed_something(self, opened: Any) -> None:
        page = opened("m/sample.html?steps")
        page.keyboard.press("j")
        expect(page.locator(STEP)).to_contain_text("2 of 2 with changes")
        assert page.url.endswith("#step=0004")

        page.keyboard.press("j")
        assert page.url.endswith("#step=0004")
        page.keyboard.press("k")
        assert page.url.endswith("#step=0003")

    def test_steps_that_changed_nothing_are_folded_but_counted(self, opened: Any) -> None:
        page = opened("m/sample.html?steps")
        folds = page.locator(".xr-fold > summary")
        assert folds.all_inner_texts() == ["2 steps without change", "1 step without change"]

        folds.first.click()
        page.locator(".xr-fold .xr-item").first.click()
        expect(page.locator(STEP)).to_contain_text("No changes in this step")

    def test_names_in_the_story_are_code_and_lead_to_their_histories(self, seen: Any) -> None:
        page = seen("m/sample.html?steps")
        name = page.locator(".xr-account a.xr-ask code")

        expect(name).to_have_text(["%fusion.3", "%a_b.1"])
        expect(page.locator(".xr-account a.xr-ask").first).to_have_attribute("href", "#i=fusion.3")
        expect(page.locator(".xr-headline a.xr-ask")).to_have_text("%two")
        expect(page.locator(".xr-group tbody a.xr-ask").last).to_have_text("%add.1")
        expect(page.locator(".xr-account li").last).to_contain_text("in layer_0.")

    def test_words_that_are_only_heard_or_pointed_at_have_no_backticks(self, seen: Any) -> None:
        page = seen("m/sample.html?steps")

        expect(page.locator("[role=status].xr-hidden")).to_contain_text("%two became one")
        assert "`%two`" not in (page.locator("[role=status].xr-hidden").text_content() or "")
        assert "`%two`" not in (page.locator(ITEM).get_attribute("title") or "")

    def test_figures_that_changed_stand_apart_from_those_that_did_not(self, seen: Any) -> None:
        figures = seen("m/sample.html?steps").locator(".xr-step-figures")

        expect(figures.locator("tr")).to_contain_text("instructions5")
        expect(figures).to_contain_text("Unchanged: fusions (0).")

    def test_an_address_of_no_step_says_so(self, opened: Any) -> None:
        page = opened("m/sample.html?steps#step=9999")

        expect(page.locator(STEP).get_by_role("alert")).to_contain_text("No step 9999")
        page.keyboard.press("j")
        expect(page.locator(STEP).get_by_role("alert")).to_have_count(0)

    def test_pipelines_head_their_steps(self, seen: Any, hostile: str) -> None:
        heads = seen("m/sample.html?steps").locator(".xr-pipeline:visible")

        assert heads.all_inner_texts() == [f"inner {hostile}, run 2", "simplification, continued"]

    def test_the_text_marks_the_words_that_changed(self, seen: Any, hostile: str) -> None:
        page = seen("m/sample.html?steps")

        expect(page.locator(".xr-diff")).to_contain_text("The first 3 of 9 changed lines are shown")
        expect(page.locator(".xr-from mark")).to_have_text(["b"])
        expect(page.locator(".xr-to mark")).to_have_text(["c"])
        expect(page.locator(".xr-line.xr-removed")).to_contain_text(hostile)
        expect(page.locator(".xr-quiet")).to_have_text('metadata={op_name="x{}"}')

    def test_steps_are_ranked_by_their_effect_and_chosen_by_its_kind(self, opened: Any) -> None:
        page = opened("m/sample.html?steps#by=effect")
        items = page.locator(".xr-item")
        expect(items).to_have_count(2)
        expect(items.first).to_contain_text("+4 fusions")
        page.get_by_role("combobox", name="Steps shown").select_option("bytes")
        expect(items).to_have_count(1)
        assert "only=bytes" in page.url

    def test_lines_of_the_difference_are_filtered_and_read_in_full(self, opened: Any) -> None:
        page = opened("m/sample.html?steps")
        page.get_by_role("searchbox", name="Filter lines").fill("tanh")
        expect(page.locator(".xr-line")).to_have_count(2)
        page.locator(".xr-line.xr-to").click()
        expect(page.locator(".xr-diff-whole")).to_have_text("%d = f32[64] tanh(%c)")

    def test_a_missing_payload_is_told(self, visitor: Any, sample_site: Path) -> None:
        visitor.context.route("**/small.js", lambda route: route.abort())
        page = visitor.open(f"{sample_site.as_uri()}/m/sample.html?steps")

        expect(page.get_by_role("alert")).to_contain_text("missing from this report")


class TestKeysAndNames:
    def test_help_lists_the_keys_of_the_page(self, seen: Any) -> None:
        page = seen("m/sample.html?steps")
        page.keyboard.press("?")
        expect(page.locator("dialog.xr-keys")).to_contain_text("Next step with changes")

        page.keyboard.press("Escape")
        expect(page.locator("dialog.xr-keys")).to_be_hidden()

    def test_typing_into_a_field_is_no_key(self, table: Page) -> None:
        table.get_by_placeholder("Filter").press("?")

        expect(table.locator("dialog.xr-keys")).to_be_hidden()

    def test_a_part_of_a_name_says_what_it_means(self, seen: Any, hostile: str) -> None:
        page = seen("m/sample.html")
        token = page.locator(".xr-token")
        token.focus()
        expect(page.get_by_role("tooltip")).to_have_text(hostile)
        assert token.get_attribute("aria-describedby") == "xr-tip"

        page.keyboard.press("Escape")
        expect(page.get_by_role("tooltip")).to_be_hidden()


@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_read_it(seen: Any, name: str) -> None:
    assert violations_by_scheme(seen(name), "light", *(["dark"] * ("m/" in name))) == {}


@pytest.fixture
def server(sample_site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(sample_site)))
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}"
    served.shutdown()
    thread.join()
    served.server_close()


def test_it_works_behind_a_server_too(browser: Any, server: str) -> None:
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{server}/m/sample.html")
    expect(page.locator("tr[data-row]").first).to_be_visible()
    if not ZENSICAL:
        page.keyboard.press("s")
        page.keyboard.type("instructions")
        expect(page.locator(".md-search-result__item").first).to_be_visible()
    page.close()

    assert complaints == []
