"""Takes the pictures of docs/tour.md anew: usage: scripts/screenshots.py SITE FOLDER.

SITE is that of the built report of examples/. The pictures depend on the fonts and the Chromium of
the machine, so no test compares them.
"""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
MAIN = "m/module_0020.jit_train_step"
STILL = """* { transition: none !important; caret-color: transparent !important }
:target, h2, h3, figure { scroll-margin-top: 6rem }"""

PAINTED = "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: what it is called, and the page that it shows."""

    name: str
    scheme: Literal["light", "dark"]
    address: str
    see: str
    """What has to be there first, as a selector."""
    top: str | None = None
    """What stands at the top of the picture; None for the head of the page."""
    height: int = 640


SHOTS = (
    Shot("home", "light", "index.html", ".xr-answers"),
    Shot("module", "dark", f"{MAIN}.html", ".xr-beside .xr-chart"),
    Shot(
        "panel", "dark", f"{MAIN}.html#i=add_bitcast_fusion", ".xr-history .xr-events", height=540
    ),
    Shot("step", "light", f"{MAIN}.html?steps#step=0056", ".xr-step .xr-account"),
    Shot(
        "picture",
        "dark",
        f"{MAIN}.html?graph",
        ".xr-canvas svg g.n",
        "#final-snapshot-after-optimizations",
    ),
    Shot("cost", "light", f"{MAIN}.html?cost", ".xr-treemap", "#by-op_name-scope"),
    Shot("memory", "light", f"{MAIN}.html?memory", ".xr-moment", "figure:has(.xr-memory)"),
    Shot("search", "dark", "index.html", ".xr-search section"),
)


def shoot(browser: Browser, site: Path, shot: Shot) -> bytes:
    """Return the picture as PNG."""
    page = browser.new_page(
        viewport={"width": 1040, "height": shot.height},
        color_scheme=shot.scheme,
        reduced_motion="reduce",
    )
    page.goto(f"{site.resolve().as_uri()}/{shot.address}")
    page.add_style_tag(content=STILL)
    if shot.name == "search":
        _search(page)
    for _ in range(2):  # what is scrolled past grows when it is drawn
        page.wait_for_selector("[aria-busy]", state="detached")
        if shot.top:
            page.locator(shot.top).evaluate("one => one.scrollIntoView()")
        expect(page.locator(shot.see).first).to_be_visible()
    page.evaluate(PAINTED)
    taken = page.screenshot()
    page.close()
    return taken


def _search(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.locator(".xr-search[data-loaded]")).to_be_visible()
    page.keyboard.type("dot_general")


def pictures(site: Path) -> Iterator[tuple[str, bytes]]:
    """Yield file name and content of each picture."""
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for shot in SHOTS:
            yield f"{shot.name}.png", shoot(browser, site, shot)
        browser.close()


def main() -> None:
    """Write the pictures into the folder that is named last."""
    site, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in pictures(site):
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
