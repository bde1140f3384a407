"""The timeline of a run in a real browser: runs, colors, ways on, a table, hostile names."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.accessibility import axe_violations

from xlareport.report import BuildOptions, build

pytestmark = pytest.mark.browser

HLO = """HloModule jit_f, is_scheduled=true

ENTRY main {
  a = f32[256,256]{1,0} parameter(0)
  dot.1 = f32[256,256]{1,0} dot(a, a), DIMENSIONS, metadata={op_name="jit(f)/encoder/dot"}
  ROOT tanh.2 = f32[256,256]{1,0} tanh(dot.1), metadata={op_name="jit(f)/decoder/tanh"}
}
"""
DIMENSIONS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
HOSTILE = "</title><img src=x onerror=hacked=1>"
RUNS = ("1", "2", "3")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("timeline")
    dump, profile = folder / "dump", folder / "profile"
    dump.mkdir()
    profile.mkdir()
    (dump / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(
        HLO.replace("DIMENSIONS", DIMENSIONS)
    )
    text = json.dumps({"traceEvents": list(_events())})
    (profile / "vm.trace.json").write_text(text)
    build(dump, BuildOptions(out=folder / "out", profiles=(str(profile),)))
    return f"{(folder / 'out/site').as_uri()}/m/module_0001.jit_f.html?time"


def _events() -> Any:
    for place, run in enumerate(RUNS):
        start = 1000 * place
        after = 40 + 10 * place
        for op, at, took in (("dot.1", 0, after), ("tanh.2", after, 20), (HOSTILE, after + 25, 5)):
            told = {"hlo_module": "jit_f", "hlo_op": op, "run_id": run}
            yield {"ts": start + at, "dur": took, "pid": 1, "tid": 7, "args": told}


@pytest.fixture
def page(visitor: Any, address: str) -> Page:
    opened: Page = visitor.open(address)
    expect(opened.locator(".xr-timeline .n")).to_have_count(3)
    return opened


def test_a_run_is_drawn_and_leads_to_its_instructions(visitor: Any, page: Page) -> None:
    figure = page.locator(".xr-timeline")
    expect(figure.get_by_label("Run").locator("option")).to_have_text(
        ["median: run 2 of 3, 80 µs", "slowest: run 3 of 3, 90 µs"]
    )
    expect(figure.locator(".n-dark-blue")).to_contain_text("dot.1")
    expect(figure).to_contain_text("dot, convolution")
    assert page.evaluate("typeof hacked") == "undefined"
    assert visitor.complaints == []
    link = figure.locator(".xr-canvas a", has_text="dot.1")
    expect(figure).to_contain_text("1 %dot.1 50 µs")
    expect(link).to_have_attribute("href", re.compile("/m/module_0001.jit_f.html#node=dot.1$"))


def test_it_can_be_enlarged_and_colored_by_scope(page: Page) -> None:
    figure = page.locator(".xr-timeline")
    figure.get_by_label("Color by").select_option("scope")
    expect(figure.locator("svg.by-scope .n[data-scope='1']")).to_have_count(1)
    expect(figure.locator(".xr-timeline-legend").first).to_contain_text("B decoder")
    for _ in range(6):
        figure.get_by_role("button", name="Larger").click()
    expect(figure.locator(".n")).to_have_count(1)
    figure.get_by_role("button", name="Show all of it").click()
    expect(figure.locator(".n")).to_have_count(3)


def test_a_table_says_the_same(page: Page) -> None:
    figure = page.locator(".xr-timeline")
    figure.get_by_text("Table").click()
    expect(figure.locator("tbody").get_by_role("link", name="dot.1")).to_be_visible()
    expect(figure.locator("tbody")).to_contain_text(HOSTILE)


def test_it_fits_a_narrow_screen_and_everyone(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    expect(page.locator(".xr-timeline .n")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe_violations(page, ".xr-timeline") == []
