"""The search over everything in Chromium: milliseconds from a key to the results on screen.

Takes the folder of a built site, else builds one of the bundled dump. Each query is typed letter by
letter once all of the index is loaded; a keystroke ends when the browser has laid out what was
found.
"""

import argparse
from pathlib import Path

from bench_zooming import chromium, site_folder
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

QUERIES = ("all-gather", "fusion.12", "layer_3/mlp dot", "f32[", "layout-assignment", "zzz")
WAIT = 60_000
TYPE = """async (query) => {
  const input = document.querySelector(".xr-search input");
  const frame = () => new Promise(requestAnimationFrame);
  const times = [];
  for (let end = 1; end <= query.length; end += 1) {
    input.value = query.slice(0, end);
    const start = performance.now();
    input.dispatchEvent(new Event("input"));
    document.querySelector(".xr-search").getBoundingClientRect();
    times.push(performance.now() - start);
    await frame();
  }
  return times;
}"""


def main() -> None:
    """Measure the search of a site."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, nargs="?", help="the folder site/ of a report")
    named = parser.parse_args().site
    browser = chromium()
    with site_folder(named) as site:
        show(measure(browser, site))


def measure(browser: str, site: Path) -> dict[str, list[float]]:
    """Return the milliseconds of each keystroke of each query."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = launched.new_page()
        page.goto(f"{site.resolve().as_uri()}/index.html")
        page.keyboard.press("/")
        page.wait_for_selector(".xr-search[data-loaded]", timeout=WAIT)
        found = {query: page.evaluate(TYPE, query) for query in QUERIES}
        launched.close()
    return found


def show(measured: dict[str, list[float]]) -> None:
    """Print the mean and the slowest keystroke of each query."""
    table = Table("Query", "Keys", "Mean ms", "Slowest ms")
    for query, times in measured.items():
        mean = sum(times) / len(times)
        table.add_row(query, str(len(times)), f"{mean:.0f}", f"{max(times):.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
