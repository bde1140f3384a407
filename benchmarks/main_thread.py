"""What the main thread of a page does in Chromium.

Times are processor time, which other work on the machine changes little.
"""

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, Locator, Page

CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline", "disabled-by-default-toplevel"]
PLACES = 40
SCROLL = """async (box, places) => {
  let most = 0;
  for (let place = 1; place <= places; place += 1) {
    box.scrollTop = (box.scrollHeight - box.clientHeight) * (place / places);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    most = Math.max(most, box.querySelectorAll("tr, .xr-lines > *").length);
  }
  return most;
}"""


def scroll(browser: Browser, page: Page, box: Locator) -> tuple[int, list[float]]:
    """Scroll a box from top to end; return the most rows at once, and each task's milliseconds."""
    browser.start_tracing(page=page, categories=CATEGORIES)
    rows = int(box.evaluate(SCROLL, PLACES))
    return rows, tasks(browser.stop_tracing())


def tasks(trace: bytes) -> list[float]:
    """Return the processor time of each task of the page's main thread, in milliseconds."""
    events = json.loads(trace)["traceEvents"]
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event.get("name") == "thread_name"
    }
    return [
        event["tdur"] / 1000
        for event in events
        if event.get("name") in {"RunTask", "ThreadControllerImpl::RunTask"}
        and "tdur" in event
        and names.get((event["pid"], event["tid"])) == "CrRendererMain"
    ]


def processor_time(page: Page, action: Callable[[], Any]) -> tuple[float, Any]:
    """Return the milliseconds of all tasks of the main thread during an action, and its value.

    Chromium counts them itself: nothing is traced, which would cost time of its own.
    """
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _task_seconds(session)
    value = action()
    spent = _task_seconds(session) - before
    session.detach()
    return spent * 1000, value


def _task_seconds(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))
