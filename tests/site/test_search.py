"""The search over everything under one key, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.accessibility import violations_by_scheme

from xlareport.pages.long_tables import PAGE, table_files
from xlareport.pages.rendering.environment import front_matter
from xlareport.pages.tables import Column, Table
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile, make_payload_file

pytestmark = pytest.mark.browser

PAGES = ("m/x.md", "m/y.md")
TABLE = '<div data-xr-table="long"></div>'


def index_of(names: list[tuple[str, list[int], list[int]]], hostile: str) -> dict[str, Any]:
    """Return a module's index; names are stems with distances of numbers and with spans."""
    return {
        "stages": [
            ["0000", "0000 first", "0000 first", 1],
            ["0007", f"0007 partitioner {hostile}", "0007 partitioner", 1],
        ],
        "spans": [[0, 1], [0, 0], [1, 1]],
        "codes": ["all-gather", "add"],
        "forms": {},
        "steps": [[1, {"all-gather": [2, 0, 1]}, [0, 1], [], [2]]],
        "complete": True,
        "kinds": {
            "instruction": {
                "stems": [stem for stem, _, _ in names],
                "counts": [len(numbers) for _, numbers, _ in names],
                "numbers": [number for _, numbers, _ in names for number in numbers],
                "spans": [span for _, _, spans in names for span in spans],
                "codes": [0 for _, numbers, _ in names for _ in numbers],
            },
            "computation": {"stems": ["main"], "counts": [1], "numbers": [1], "spans": [0]},
            "opcode": {"values": ["add", "all-gather"], "spans": [0, 2]},
            "op_name": {"values": ["jit(f)/layer_0/gather"], "spans": [0]},
            "shape": {"values": ["f32[8]"], "spans": [0]},
            "source": {"values": ["/a/model.py:3"], "spans": [0]},
        },
    }


def values(hostile: str) -> Iterator[tuple[str, Any]]:
    modules = [
        ["x", "jit_train", "module_0000.jit_train", "main", 1, 1],
        ["y", f"jit_helper {hostile}", "module_0001.jit_helper", "helper", 1, 0],
    ]
    yield (
        "search",
        {
            "modules": modules,
            "opcodes": {"all-gather": [0], "dot": [1]},
            "scopes": {"jit(f)/layer_0": [0]},
            "findings": [[0, "A gather that waits"]],
            "files": 1,
            "more_opcodes": {"dot": 7},
            "pages": {"rows": 3, "size": 2},
            "topics": [["Input/output aliasing", "m/x.html?memory#alias", ["donate", "aliasing"]]],
        },
    )
    far = ["z", "jit_far", "module_0002.jit_far", "helper", 0, 0]
    yield "search-1", {"modules": [far], "findings": [[2, "A copy far away"]]}
    yield "files", {"rows": [["module_0000.jit_train.txt", "hlo-text"]], "columns": []}
    names = [("all-gather", [1, 3, 1], [2, 2, 1]), ("wrapped_all-gather", [1], [2])]
    yield "m/x/search", index_of(names, hostile)
    yield "m/y/search", index_of([(f"all-gather {hostile}", [1], [0])], hostile)


def long_table(hostile: str) -> Table:
    """Return a table in three payloads, by its second column the last row first."""
    columns = (Column("Name", "code"), Column("Place", "int"))
    rows = [[f"row_{place:04d} {hostile}", place] for place in range(2 * PAGE + 500)]
    return Table(columns, rows, sort=(1, "desc"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile], hostile: str) -> Path:
    out = tmp_path_factory.mktemp("search")
    text = f"{front_matter(title='x', search=False)}# Page\n\n{TABLE}\n"
    pages = [(one, text) for one in PAGES]
    scripts = [make_payload_file(key, value) for key, value in values(hostile)]
    scripts += table_files("long", long_table(hostile))
    write_sources(
        out, [*(few_page for few_page in few_pages if few_page[0] not in PAGES), *pages, *scripts]
    )
    build_site(out)
    return out / "site"


@pytest.fixture
def page(visitor: Any, site: Path) -> Iterator[Page]:
    opened: Page = visitor.open(f"{site.as_uri()}/m/y.html")
    yield opened
    assert visitor.outside() == []
    assert opened.evaluate("typeof hacked") == "undefined"


@pytest.fixture
def seen(still: Any, site: Path) -> Iterator[Page]:
    """Return the page for a test that goes nowhere from it."""
    page: Page = still.look(f"{site.as_uri()}/m/y.html")
    yield page
    page.keyboard.press("Escape")
    assert page.evaluate("typeof hacked") == "undefined"


def search(page: Page, words: str) -> None:
    page.keyboard.press("/")
    expect(page.locator(".xr-search[data-loaded]")).to_be_visible()
    page.get_by_label("Search this report").fill(words)


def section(page: Page, title: str) -> Any:
    return page.locator(".xr-search section").filter(has=page.locator("h2", has_text=title))


def test_one_key_opens_it_and_escape_closes_it(page: Page, visitor: Any) -> None:
    assert not any("/data/search" in request for request in visitor.requests)
    page.keyboard.press("/")
    box = page.get_by_label("Search this report")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    page.locator(".xr-search-open").click()
    expect(box).to_be_focused()
    assert visitor.complaints == []


def test_an_opcode_lists_the_steps_that_touched_it(page: Page, visitor: Any) -> None:
    search(page, "all-gather")
    step = section(page, "Steps that changed it").locator("a").first
    expect(step).to_contain_text("2 added, 1 changed, in jit_train")
    assert str(step.get_attribute("href")).endswith("m/x.html?steps#step=0007")
    expect(section(page, "Opcodes").locator("a").first).to_contain_text("since 0007 partitioner")
    assert visitor.complaints == []


def test_results_are_ranked_exact_prefix_word_substring_and_what_is_gone_comes_last(
    seen: Page, hostile: str
) -> None:
    search(seen, "%ALL-gather")
    found = section(seen, "Instructions").locator("a code")
    expect(found).to_have_count(5)
    expect(found.nth(0)).to_have_text("%all-gather")
    expect(found.nth(1)).to_have_text("%all-gather.2")
    expect(found.nth(2)).to_have_text(f"%all-gather {hostile}")
    expect(found.nth(3)).to_have_text("%wrapped_all-gather")
    expect(found.nth(4)).to_have_text("%all-gather.3")


@pytest.mark.parametrize(
    ("words", "term"),
    [("rounds", "trip count"), ("HBM", "HBM"), ("split-k", "split-k"), ("least time", "roofline")],
)
def test_synonyms_and_former_terms_lead_to_the_term(seen: Page, words: str, term: str) -> None:
    search(seen, words)
    first = section(seen, "Reference").locator("a").first
    expect(first.locator("code")).to_have_text(term)
    assert str(first.get_attribute("href")).endswith(f"#word-{term.replace(' ', '-')}")


def test_each_result_leads_to_its_place(seen: Page) -> None:
    cases = {
        "all-gather.2": ("Instructions", "m/x.html#i=all-gather.2"),
        "all-gather.3": ("Instructions", "m/x.html#i=all-gather.3"),
        "layer_0/gather": ("op_names", "m/x.html#op=jit(f)%2Flayer_0%2Fgather"),
        "layer_0": ("Scopes", "m/x.html?cost#t=m/x/scopes&q=layer_0"),
        "model.py": ("Source lines", "m/x.html#t=m/x/instructions&q=model.py%3A3"),
        "f32[": ("Shapes", "m/x.html?texts#text=0007&find=f32%5B8%5D"),
        "jit_train.txt": ("Files", "coverage.html#t=files&q=module_0000.jit_train.txt"),
        "waits": ("Findings", "m/x.html?cost#findings"),
        "fusion": ("Reference", "glossary.html#opcode-fusion"),
        "jit_train": ("Modules", "m/x.html"),
        "partitioner": ("Passes", "m/x.html?steps#step=0007"),
    }
    search(seen, "x")
    for words, (title, address) in cases.items():
        seen.get_by_label("Search this report").fill(words)
        link = section(seen, title).locator(f'a[href$="{address}"]')
        expect(link).to_have_count(1)


def test_a_table_that_an_address_names_is_shown_below_the_tabs(seen: Page) -> None:
    table = seen.locator("[data-xr-table]").first
    assert table.evaluate("table => parseFloat(getComputedStyle(table).scrollMarginTop)") > 100


def test_the_keyboard_is_enough(page: Page) -> None:
    search(page, "all-gather")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".xr-search a").nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("Search this report")).to_be_focused()
    page.get_by_label("Search this report").fill("jit_train")
    expect(section(page, "Modules").locator("a")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/m/x\.html$"))


def test_it_fits_a_narrow_screen_and_is_accessible(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    search(page, "gather")
    expect(section(page, "Instructions").locator("a").first).to_be_visible()

    assert page.evaluate("document.querySelector('.xr-search').scrollWidth") <= 400
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert violations_by_scheme(page) == {}


def test_there_is_one_search_and_it_has_the_text_of_the_guide(seen: Page) -> None:
    expect(seen.locator(".md-search")).to_be_hidden()
    seen.keyboard.press("s")
    expect(seen.locator(".xr-search[data-loaded]")).to_be_visible()
    seen.get_by_label("Search this report").fill("instructions as one")
    expect(section(seen, "Pages and guide").locator("a").first).to_contain_text("Fusion")


@pytest.mark.parametrize("words", ["donate", "Aliasing", "input/output aliasing"])
def test_words_lead_to_the_section_of_the_main_program(seen: Page, words: str) -> None:
    search(seen, words)
    link = section(seen, "In this report").locator("a")
    expect(link).to_have_count(1)
    expect(link).to_have_attribute("href", re.compile(r"m/x\.html\?memory#alias$"))


def test_enter_opens_the_history_of_an_exact_name(page: Page) -> None:
    search(page, "%wrapped_all-gather")
    page.keyboard.press("Enter")
    page.wait_for_url("**/m/x.html#i=wrapped_all-gather")


def test_enter_opens_the_first_result_where_none_is_exact(page: Page) -> None:
    search(page, "all-gather.")
    expect(section(page, "Instructions").locator("a").first).to_contain_text("all-gather.2")
    page.keyboard.press("Enter")
    page.wait_for_url("**/m/x.html#i=all-gather.2")


def test_modules_beyond_the_first_payload_are_found(seen: Page) -> None:
    search(seen, "far")
    expect(section(seen, "Modules").locator("a")).to_have_attribute("href", re.compile("m/z.html"))
    expect(section(seen, "Findings")).to_contain_text("A copy far away")
    expect(seen.locator(".xr-search [role=status]")).to_contain_text("in 2 modules of 3")


def test_a_long_table_loads_the_rows_in_sight(page: Page, visitor: Any) -> None:
    def loaded() -> list[str]:
        found = [re.search(r"/data/(long[-\d]*)\.js", request) for request in visitor.requests]
        return [one[1] for one in found if one]

    table, count = page.locator("table.xr-data"), page.locator(".xr-count")
    expect(table.locator("tr[data-row]").first).to_contain_text("row_2499")
    expect(count).to_have_text("2,500 rows")
    assert loaded() == ["long"]
    page.locator(".xr-table-scroll").evaluate("one => (one.scrollTop = one.scrollHeight)")
    expect(table.locator("tr[data-row]").last).to_contain_text("row_0000")
    assert loaded() == ["long", "long-2"]
    page.locator("input.xr-filter").fill("row_1200")
    expect(count).to_have_text("1 of 2,500 rows")
    expect(table.locator("tr[data-row]")).to_contain_text("row_1200")
    assert loaded() == ["long", "long-2", "long-1"]
    page.locator("input.xr-filter").fill("")
    page.get_by_role("button", name="Name").click()
    expect(table.locator("tr[data-row]").first).to_contain_text("row_0000")
    assert visitor.complaints == []
