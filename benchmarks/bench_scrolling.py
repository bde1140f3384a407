"""How long the largest steps of a report take to open, and its longest tables to scroll.

`python benchmarks/bench_scrolling.py SITE ...`; a site is the folder `site/` of a report; without
one, the report of the bundled dump is built. For each site: the steps with the most changed lines,
each opened from another one three times, and the longest tables of the module's page, scrolled from
top to end in 40 moves. `cpu_ms` is the processor time of the page's main thread, which other work
on the machine changes little, of a step without tracing; `wall_ms` is what a reader waits on this
machine. Ends with 1 where a step takes 300 ms of processor time or more, a task of scrolling 50 ms,
or more than 200 rows are in the document.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench_zooming import chromium, site_folder
from main_thread import processor_time, scroll
from playwright.sync_api import Browser, sync_playwright

from xlareport.storage.payloads import read_stored_value

MOST_STEP, MOST_TASK, MOST_ROWS = 300.0, 50.0, 200
STEPS, TIMES, TABLES = 8, 3, 4
_LEAST_ROWS = 200
"""Rows from which on a table is worth scrolling."""
OPEN = """(key) => new Promise((resolve) => {
  const shown = () => document.querySelector(".xr-step-body");
  const before = shown();
  const start = performance.now();
  location.hash = `step=${encodeURIComponent(key)}`;
  const look = () => {
    const step = shown();
    const late = performance.now() - start;
    const lines = step?.querySelector(".xr-diff") ? ".xr-line" : "*";
    const there = step && step !== before && step.querySelector(lines);
    if (there) requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
    else if (late > 20000) resolve(late);
    else requestAnimationFrame(look);
  };
  look();
})"""


class Measure(NamedTuple):
    """One thing that was opened or scrolled."""

    what: str
    size: int
    cpu_ms: float
    """Of a step all tasks until it is drawn, of a table the longest task."""
    wall_ms: float
    rows: int
    kept: bool


def main() -> None:
    """Print a line for each step and table; end with 1 where a limit is broken."""
    kept = True
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        sites: list[Path | None] = [Path(name) for name in sys.argv[1:]]
        for named in sites or [None]:
            with site_folder(named) as site:
                kept &= print_measures(launched, site.resolve())
    sys.exit(0 if kept else 1)


def print_measures(browser: Browser, site: Path) -> bool:
    """Print a line for each step and table of a site; return whether all limits are kept."""
    kept = True
    for measure in measures(browser, site):
        kept &= measure.kept
        print(
            f"{site.parent.name:34} {measure.what:44} {measure.size:>8,} "
            f"{measure.cpu_ms:>8.1f} cpu_ms {measure.wall_ms:>8.1f} wall_ms "
            f"{measure.rows:>4} rows{'' if measure.kept else '  OVER'}",
            flush=True,
        )
    return kept


def measures(browser: Browser, site: Path) -> Iterator[Measure]:
    """Yield the figures of the module whose steps changed most lines."""
    slug = main_module(site)
    yield from opened_steps(browser, site, slug)
    yield from scrolled_tables(browser, site, slug)


def main_module(site: Path) -> str:
    """Return the module with the most changed instructions."""
    slugs = [path.name for path in (site / "assets" / "data" / "m").iterdir() if path.is_dir()]
    return max(slugs, key=lambda slug: sum(size for _, size in steps_of(site, slug)))


def steps_of(site: Path, slug: str) -> list[tuple[str, int]]:
    """Return the steps of a module that changed something: key and changed instructions."""
    try:
        index: Mapping[str, Any] = read_stored_value(site, f"m/{slug}/steps")
    except FileNotFoundError:
        return []
    known: Sequence[Mapping[str, Any]] = index["steps"]
    sized = [(str(step["id"]), changes(step)) for step in known]
    return [(key, size) for key, size in sized if size]


def changes(step: Mapping[str, Any]) -> int:
    """Return how many instructions a step added, removed or changed."""
    return sum(int(step.get(word) or 0) for word in ("added", "removed", "modified"))


def opened_steps(browser: Browser, site: Path, slug: str) -> Iterator[Measure]:
    """Yield the largest steps but the smallest, each opened from that one."""
    ranked = sorted(steps_of(site, slug), key=lambda step: -step[1])
    if len(ranked) < 2:
        return
    smallest = ranked[-1][0]
    for key, size in ranked[:-1][:STEPS]:
        opened = [
            opened_step(browser, f"{site.as_uri()}/m/{slug}.html?steps", smallest, key)
            for _ in range(TIMES)
        ]
        cpu, wall, rows = sorted(opened)[TIMES // 2]
        yield Measure(f"step {key}", size, cpu, wall, rows, cpu < MOST_STEP and rows <= MOST_ROWS)


def opened_step(browser: Browser, address: str, former: str, key: str) -> tuple[float, float, int]:
    """Return the milliseconds of processor time and of waiting for a step, and its rows."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(f"{address}#step={former}")
    page.wait_for_selector(".xr-step-body *", state="attached")
    page.wait_for_timeout(1500)
    cpu, wall = processor_time(page, lambda: page.evaluate(OPEN, key))
    rows = page.locator(".xr-diff-scroll .xr-lines > *").count()
    page.close()
    return cpu, float(wall), rows


def scrolled_tables(browser: Browser, site: Path, slug: str) -> Iterator[Measure]:
    """Yield the longest tables of a module's tabs, scrolled from top to end."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    measured = 0
    for tab in ("cost", "memory", "code", "source"):
        page.goto(f"{site.as_uri()}/m/{slug}.html?{tab}")
        page.wait_for_timeout(1500)
        for box in page.locator(".xr-table-scroll:visible").all():
            total = count_rows(box)
            if total < _LEAST_ROWS or measured >= TABLES:
                continue
            measured += 1
            rows, took = scroll(browser, page, box)
            longest = max(took, default=0.0)
            within = longest < MOST_TASK and rows <= MOST_ROWS
            yield Measure(f"table in {tab}", total, longest, 0.0, rows, within)
    page.close()


def count_rows(box: Any) -> int:
    """Return how many rows a table says that it has."""
    text = box.evaluate("(box) => box.querySelector('table').getAttribute('aria-rowcount') || '0'")
    return int(text)


if __name__ == "__main__":
    main()
