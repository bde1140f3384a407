"""Long tables and long differences: few nodes, all rows within reach, no long task while scrolling.

Tasks are measured by the processor time of the page's main thread. A task that is long by nature is
long each time; a pause of the browser, for garbage or for the machine, is not.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from main_thread import PLACES, processor_time, scroll

LONGEST_TASK = 50
"""Milliseconds: a task above is a long task, as PerformanceObserver has it."""
LONGEST_STEP = 300
MOST_ROWS = 200


TABLE = ("m/sample.html", ".xr-table-scroll", "tr[data-row='10001']")
DIFFERENCE = (
    "m/sample.html?steps#step=0004",
    ".xr-diff-scroll",
    ".xr-line.xr-to >> text=%add.29999",
)


@pytest.mark.parametrize("place", [TABLE, DIFFERENCE])
def test_scrolling_all_rows_makes_no_long_task(
    visitor: Any, browser: Any, sample_site: Any, place: tuple[str, str, str]
) -> None:
    address, box, last = place
    page = visitor.open(f"{sample_site.as_uri()}/{address}")
    expect(page.locator(".xr-diff-bar [role=status]:not(:empty)")).to_have_count(0)

    most, tasks = scroll(browser, page, page.locator(box))

    assert len(tasks) > PLACES
    assert most <= MOST_ROWS
    longest = max(tasks)
    if longest >= LONGEST_TASK:
        longest = max(scroll(browser, page, page.locator(box))[1])
    assert longest < LONGEST_TASK
    expect(page.locator(last)).to_be_visible()


def test_a_long_difference_is_there_to_its_last_line(visitor: Any, sample_site: Any) -> None:
    page = visitor.open(f"{sample_site.as_uri()}/m/sample.html?steps#step=0004")

    expect(page.locator(".xr-diff-bar")).to_contain_text("30,000 changed lines.")
    page.get_by_role("searchbox", name="Filter lines").fill("add.29999")
    expect(page.locator(".xr-line")).to_have_count(2)
    expect(page.locator(".xr-hunk-title")).to_have_text(["main"])


def test_a_step_of_30_000_lines_opens_at_once(visitor: Any, sample_site: Any) -> None:
    page = visitor.open(f"{sample_site.as_uri()}/m/sample.html?steps#step=0003")
    expect(page.locator(".xr-step-body")).not_to_be_empty()

    def opened() -> None:
        page.evaluate("location.hash = 'step=0004'")
        expect(page.locator(".xr-line").first).to_be_attached()

    milliseconds, _ = processor_time(page, opened)

    assert 0 < milliseconds < LONGEST_STEP


def test_a_row_that_is_drawn_styles_nothing_else(
    visitor: Any, browser: Any, sample_site: Any
) -> None:
    page = visitor.open(f"{sample_site.as_uri()}/m/sample.html")
    expect(page.locator("tr[data-row='1']")).to_be_visible()
    page.wait_for_timeout(500)

    browser.start_tracing(page=page, categories=["devtools.timeline"])
    page.evaluate(
        """() => new Promise((drawn) => {
          const row = "<p><code><mark>a</mark></code></p>";
          document.querySelector("article").insertAdjacentHTML("beforeend", row);
          requestAnimationFrame(() => setTimeout(drawn));
        })"""
    )
    events = json.loads(browser.stop_tracing())["traceEvents"]

    styled = [
        event["args"]["elementCount"] for event in events if event["name"] == "UpdateLayoutTree"
    ]
    assert sum(styled) >= 3
    assert max(styled) < 30, "a rule such as body:has(...) styles the whole page anew"


@pytest.mark.parametrize("place", [TABLE, DIFFERENCE])
def test_paper_says_how_many_rows_it_leaves_out(
    visitor: Any, sample_site: Any, place: tuple[str, str, str]
) -> None:
    address, box, _ = place
    page = visitor.open(f"{sample_site.as_uri()}/{address}")
    expect(page.locator(f"{box} :is(tr[data-row], .xr-line)").first).to_be_visible()
    expect(page.locator(".xr-diff-bar [role=status]:not(:empty)")).to_have_count(0)

    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    expect(page.locator(box)).to_contain_text(re.compile(r"\d,\d{3} more (rows|lines) not printed"))
