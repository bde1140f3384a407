"""The table of all instructions of a module, in a real browser."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.accessibility import axe_violations
from tests.report_files import payload_files

from xlareport.pages.rendering.environment import front_matter
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile, make_payload
from xlareport.storage.string_folding import fold_strings

pytestmark = pytest.mark.browser

KEY = "m/x/instructions"
PAGE = f"""# x

## All instructions

<div data-xr-instructions="{KEY}" data-graph="m/x/graph"><button type="button">Show</button></div>
"""
MANY = 100_000
HALF = MANY // 2


def values(hostile: str) -> dict[str, Any]:
    numbers = [0] * HALF
    piece: dict[str, Any] = {
        "pieces": 2,
        "flops": [None] * HALF,
        "bytes": numbers,
        "stored": [],
        "share": [0.5, *[0.0] * (HALF - 1)],
        "scope": numbers,
        "source": numbers,
        "scopes": [f"jit(f)/{hostile}"],
        "sources": ["f.py:3"],
    }
    index = {
        "names": fold_strings([hostile, *(f"add.{number}" for number in range(1, MANY))]).listed(),
        "arguments": [fold_strings([""]).listed(), [0] * MANY],
        "operands": [[0] * MANY, []],
        "look": [0] * MANY,
        "shape": [0] * MANY,
        "looks": [["add", "", "green", ""]],
        "shapes": [["f32[8]", 8, 32]],
        "calls": {},
        "controls": {},
        "computations": [["main", HALF, ""], ["body", HALF, ""]],
        "complete": False,
    }
    second = piece | {"share": [0.0] * HALF}
    return {"m/x/graph": index, f"{KEY}-0": piece, f"{KEY}-1": second}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile], hostile: str) -> Path:
    out = tmp_path_factory.mktemp("instructions")
    page = ("m/x.md", f"{front_matter(title='x', search=False)}{PAGE}")
    scripts = payload_files(*(make_payload(key, value) for key, value in values(hostile).items()))
    write_sources(
        out, [*(few_page for few_page in few_pages if few_page[0] != page[0]), page, *scripts]
    )
    build_site(out)
    return out / "site"


def opened(visitor: Any, site: Path, address: str = "") -> Page:
    page: Page = visitor.open(f"{site.as_uri()}/m/x.html{address}")
    return page


def test_nothing_is_loaded_before_somebody_asks(visitor: Any, site: Path, hostile: str) -> None:
    page = opened(visitor, site)
    assert not any(
        "instructions" in request for request in visitor.requests if request.endswith("-0.js")
    )

    page.get_by_role("button", name="Show").click()
    expect(page.locator(".xr-count")).to_have_text("100,000 rows")
    first = page.locator("tr[data-row]").first.locator("td")
    expect(first.first).to_have_text(hostile)
    expect(page.locator("tr[data-row]").first).to_contain_text("50%")
    expect(page.get_by_placeholder("Filter")).to_be_focused()
    expect(page.get_by_text("Only part of the module")).to_be_visible()
    assert page.locator("tr[data-row]").count() < 120
    assert visitor.complaints == []
    assert page.evaluate("typeof hacked") == "undefined"
    assert axe_violations(page) == []


def test_a_filter_has_an_address_that_opens_the_table(visitor: Any, site: Path) -> None:
    page = opened(visitor, site, f"#t={KEY}&q=add.99999+body&s=0a&c=0.9")

    expect(page.locator(".xr-count")).to_have_text("1 of 100,000 rows")
    expect(page.locator("tr[data-row] td").last).to_have_text("body")
