"""The budgets of a report: how large its site is, and how fast it answers in Chromium.

Takes dumps, else large ones of XLAREPORT_DUMPS, else the bundled one. Pages are opened from disk
without a network, on two processors. A time ends with the first frame that shows the answer; keys
come a moment apart, as a reader's do. Beside the budgets stand what has the same content: the dump
itself, as a zip, and the pages that XLA writes with --xla_dump_hlo_as_html.
"""

import argparse
import os
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from bench_search import QUERIES, TYPE, WAIT
from bench_zooming import BUNDLED, chromium
from playwright.sync_api import BrowserContext, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from xlareport.report import BuildOptions, build
from xlareport.site.site_sizes import (
    LARGE_DUMP,
    MOST_FIXED,
    MOST_GROWN,
    MOST_HOME,
    MOST_PAGE,
    SiteSizes,
    measure_site,
)
from xlareport.storage.payloads import read_stored_value

DUMPS = ("jax-gpt2-allpasses", "tpu-v5e-transformer4-allpasses", "jax-cpu-mlp")
PROCESSORS = 2
MOST_OPENING, MOST_STEP, MOST_KEY = 1000, 300, 200
"""Milliseconds."""
PAUSE = 400
"""Milliseconds between two keys."""
READY = """() => new Promise((resolve) => {
  const drawn = () => requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  if (document.readyState === "complete") drawn();
  else window.addEventListener("load", drawn);
})"""
PRESS = """() => new Promise((resolve) => {
  const shown = () => document.querySelector(".xr-step-body");
  const before = shown();
  const start = performance.now();
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
  const look = () => {
    const step = shown();
    const late = performance.now() - start;
    const lines = step.querySelector(".xr-diff") ? ".xr-line" : "*";
    const there = step !== before && step.querySelector(lines);
    if (there) requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
    else if (late > 20000) resolve(late);
    else requestAnimationFrame(look);
  };
  look();
})"""


class Row(NamedTuple):
    """One budget and what was measured; without a budget, a figure to compare with."""

    what: str
    measured: float
    most: float | None
    unit: str
    of: str = ""


def main() -> None:
    """Measure the reports of some dumps and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", type=Path, nargs="*", help="directories or archives of dumps")
    parser.add_argument("--out", type=Path, help="keep the reports here; those there are not built")
    parser.add_argument("--steps", type=int, default=60, help="at most so many are turned to")
    arguments = parser.parse_args()
    browser = chromium()
    jobs = len(os.sched_getaffinity(0))
    with ExitStack() as stack:
        out = arguments.out or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for dump in arguments.dumps or known():
            site = built(dump, out / dump.name.partition(".")[0], jobs)
            fast = speeds(browser, site, arguments.steps)
            show(dump.name, [*sizes(measure_site(site), dump), *fast, *peers(dump)])


def known() -> list[Path]:
    """Return the dumps that are measured where none is named."""
    folder = os.environ.get("XLAREPORT_DUMPS")
    found = [Path(folder) / name / name for name in DUMPS] if folder else []
    return [one for one in found if one.is_dir()] or [BUNDLED]


def built(dump: Path, out: Path, jobs: int) -> Path:
    """Return the site of a dump, built where it is not there yet."""
    if not (out / "site" / "report.json").is_file():
        out.mkdir(parents=True, exist_ok=True)
        build(dump, BuildOptions(out=out, jobs=jobs))
    return out / "site"


def sizes(found: SiteSizes, dump: Path) -> Iterator[Row]:
    """Yield what the site weighs."""
    size = weight(dump)
    large = size is not None and size >= LARGE_DUMP
    page = found.largest_page
    yield Row("what every report has", found.fixed / 1e6, MOST_FIXED / 1e6, "MB")
    share = f", {found.grown / size:.1%} of it" if size else ""
    most = MOST_GROWN * size / 1e6 if large and size else None
    yield Row("what grows with the dump", found.grown / 1e6, most, "MB", share.lstrip(", "))
    yield Row("home page", found.pages["index.html"] / 1e3, MOST_HOME / 1e3, "kB")
    yield Row("largest page", found.pages[page] / 1e3, MOST_PAGE / 1e3, "kB", page)


def weight(dump: Path) -> int | None:
    """Return the bytes of a dump; None for an archive."""
    return sum(file.stat().st_size for file in files(dump)) if dump.is_dir() else None


def files(dump: Path) -> list[Path]:
    """Return the files of a dump."""
    return [path for path in dump.rglob("*") if path.is_file()]


def peers(dump: Path) -> Iterator[Row]:
    """Yield what the same content weighs elsewhere."""
    if not dump.is_dir():
        yield Row("the dump as its archive", dump.stat().st_size / 1e6, None, "MB")
        return
    packed = sum(len(zlib.compress(file.read_bytes())) for file in files(dump))
    yield Row("the dump itself", (weight(dump) or 0) / 1e6, None, "MB")
    yield Row("the dump as a zip", packed / 1e6, None, "MB")
    drawn = [file.stat().st_size for file in files(dump) if file.suffix == ".html"]
    if drawn:
        yield Row("XLA's own pages", sum(drawn) / 1e6, None, "MB", f"{len(drawn)} of them")


def speeds(browser: str, site: Path, most_steps: int) -> Iterator[Row]:
    """Yield how long the pages of a site take."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:PROCESSORS])
    try:
        with sync_playwright() as playwright:
            launched = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            context = launched.new_context(offline=True, viewport={"width": 1400, "height": 1000})
            yield opening(context, site)
            yield from steps(context, site, most_steps)
            yield searching(context, site)
            launched.close()
    finally:
        os.sched_setaffinity(0, every)


def opening(context: BrowserContext, site: Path) -> Row:
    """Return the median of five times until the home page is drawn and its scripts have run."""
    page = context.new_page()
    times = sorted(opened(page, site / "index.html") for _ in range(5))
    return Row("home page open", times[2], MOST_OPENING, "ms", f"slowest {times[-1]:.0f} ms")


def opened(page: Page, file: Path, state: str = "") -> float:
    """Open a page anew and return after how many milliseconds it was there."""
    page.goto("about:blank")
    page.goto(f"{file.as_uri()}{state}", wait_until="commit")
    ready: float = page.evaluate(READY)
    return ready


def steps(context: BrowserContext, site: Path, most: int) -> Iterator[Row]:
    """Yield the slowest step after a key, of the module that the most steps changed."""
    slugs = [path.name for path in (site / "assets" / "data" / "m").iterdir()]
    counts = {slug: changed_steps(site, slug) for slug in slugs}
    slug = max(counts, key=counts.__getitem__)
    if not counts[slug]:
        return
    page = context.new_page()
    page.goto(f"{site.as_uri()}/m/{slug}.html?steps")
    page.wait_for_selector(".xr-step-body *", state="attached")
    times: list[float] = []
    for _ in range(min(counts[slug] - 1, most)):
        page.wait_for_timeout(PAUSE)
        times.append(page.evaluate(PRESS))
    if times:
        yield slowest("a step's difference after a key", times, MOST_STEP, "step")


def changed_steps(site: Path, slug: str) -> int:
    """Return how many steps of a module changed something; 0 where it has no steps."""
    try:
        index = read_stored_value(site, f"m/{slug}/steps")
    except FileNotFoundError:
        return 0
    return sum(step["changed"] is True for step in index["steps"])


def slowest(what: str, times: Sequence[float], most: float, each: str) -> Row:
    """Return the slowest of some times, with the mean."""
    mean = sum(times) / len(times)
    return Row(what, max(times), most, "ms", f"slowest of {len(times)} {each}s, mean {mean:.0f} ms")


def searching(context: BrowserContext, site: Path) -> Row:
    """Return the slowest keystroke of some queries, once the index is there."""
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("/")
    page.wait_for_selector(".xr-search[data-loaded]", timeout=WAIT)
    times: list[Any] = [time for query in QUERIES for time in page.evaluate(TYPE, query)]
    return slowest("results after a key of the search", times, MOST_KEY, "key")


def show(name: str, rows: Sequence[Row]) -> None:
    """Print the table."""
    table = Table("", "measured", "budget", "", "", title=name)
    for row in rows:
        most = "" if row.most is None else f"{row.most:.4g} {row.unit}"
        verdict = "" if row.most is None else "held" if row.measured <= row.most else "BROKEN"
        table.add_row(row.what, f"{row.measured:.4g} {row.unit}", most, verdict, row.of)
    Console().print(table)


if __name__ == "__main__":
    main()
