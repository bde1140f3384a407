"""Long tables and long differences: few nodes, all rows within reach, no long task while scrolling.

Tasks are measured by the processor time of the page's main thread, which other work on the machine
does not change.
"""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

LONGEST_TASK = 50_000
"""Microseconds: a task above is a long task, as PerformanceObserver has it."""
MOST_ROWS = 200
CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline", "disabled-by-default-toplevel"]
PLACES = 40
SCROLL = """
async (box, places) => {
  let most = 0;
  for (let place = 1; place <= places; place += 1) {
    box.scrollTop = (box.scrollHeight - box.clientHeight) * (place / places);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    most = Math.max(most, box.querySelectorAll("tr, .xr-lines > *").length);
  }
  return most;
}
"""


def scroll(page: Page, browser: Any, box: str) -> tuple[int, list[float]]:
    """Scroll a box from top to end; return the most rows at once and the tasks' microseconds."""
    browser.start_tracing(page=page, categories=CATEGORIES)
    most = page.locator(box).evaluate(SCROLL, PLACES)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event.get("name") == "thread_name"
    }
    tasks = [
        event["tdur"]
        for event in events
        if "tdur" in event and names.get((event["pid"], event["tid"])) == "CrRendererMain"
    ]
    return int(most), tasks


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

    most, tasks = scroll(page, browser, box)

    assert len(tasks) > PLACES
    assert most <= MOST_ROWS
    assert max(tasks) < LONGEST_TASK
    expect(page.locator(last)).to_be_visible()


def test_a_long_difference_is_there_to_its_last_line(visitor: Any, sample_site: Any) -> None:
    page = visitor.open(f"{sample_site.as_uri()}/m/sample.html?steps#step=0004")

    expect(page.locator(".xr-diff-bar")).to_contain_text("30,000 changed lines.")
    page.get_by_role("searchbox", name="Filter lines").fill("add.29999")
    expect(page.locator(".xr-line")).to_have_count(2)
    expect(page.locator(".xr-hunk-title")).to_have_text(["main"])
