"""The tabs of a module on several GPUs in a real browser, small ones and dark ones too."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.accessibility import axe_violations, narrow_width, violations_by_scheme
from tests.walks import LONG_WALKS

from xlareport.report import BuildOptions, build

pytestmark = pytest.mark.browser

TABS = ("collectives", "shardings", "kernels", "skeleton")


@pytest.fixture(scope="module")
def site(unpacked: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("partitioned")
    build(unpacked("sharded-gpu"), BuildOptions(out=out, pictures="none"))
    return out / "site"


@pytest.fixture
def opened(still: Any, site: Path) -> Callable[[str], Page]:
    def open_tab(name: str) -> Page:
        page: Page = still.look(f"{site.as_uri()}/m/module_0001.jit_fsdp_step.html?{name}")
        expect(page.locator("h1")).to_contain_text(f"{name.title()} of jit_fsdp_step")
        return page

    return open_tab


@pytest.mark.parametrize("name", TABS if LONG_WALKS else ("skeleton",))
def test_everybody_can_read_it(opened: Callable[[str], Page], name: str) -> None:
    assert violations_by_scheme(opened(name)) == {}


@pytest.mark.parametrize("name", TABS)
def test_it_fits_a_narrow_screen(opened: Callable[[str], Page], name: str) -> None:
    assert narrow_width(opened(name)) <= 400


_SIZES = """() => [...document.querySelectorAll("main svg.xr-chart text")]
  .filter((text) => text.getBoundingClientRect().height && text.textContent.trim())
  .map((text) => [parseFloat(getComputedStyle(text).fontSize), text.ownerSVGElement.getScreenCTM()])
  .map(([size, scale]) => size * scale.a)
"""


@pytest.mark.parametrize("tab", ["", "?cost", "?memory"])
def test_text_of_charts_can_be_read_on_a_narrow_screen(visitor: Any, site: Path, tab: str) -> None:
    page = visitor.open(f"{site.as_uri()}/m/module_0001.jit_fsdp_step.html{tab}")
    page.set_viewport_size({"width": 400, "height": 800})
    page.locator("main svg.xr-chart text").first.wait_for(state="attached")
    assert min(page.evaluate(_SIZES), default=11) >= 11


def test_the_panel_of_a_collective_says_why_it_is_there(visitor: Any, site: Path) -> None:
    """With its grade, what it takes, and the way to its row among the origins."""
    address = f"{site.as_uri()}/m/module_0001.jit_fsdp_step.html"
    page = visitor.open(f"{address}#i=all-gather-start")
    facts = page.locator(".xr-history .xr-panel-facts")
    expect(facts).to_contain_text("Resharding. ")
    expect(facts.locator(".xr-grade").first).to_have_text(re.compile("exact|matched"))
    expect(facts).to_contain_text("sent per device")
    expect(facts).not_to_contain_text("fused")
    assert axe_violations(page) == []
    facts.get_by_role("link", name="Reason").click()
    expect(page.locator("#origins")).to_be_in_viewport()


def test_the_overview_is_under_two_screens(visitor: Any, site: Path) -> None:
    page = visitor.open(f"{site.as_uri()}/m/module_0001.jit_fsdp_step.html")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.locator(".xr-history, #ask").first.wait_for(state="attached")
    assert page.evaluate("document.documentElement.scrollHeight") < 2 * 900
    assert page.locator(".xr-tabs-name").is_visible()
