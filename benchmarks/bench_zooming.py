"""Zooming pictures in Chromium: frames a second, for the largest pictures of a report.

Takes the folder of a built site, else builds one of the bundled dump. Each picture is zoomed in and
out with the wheel for some seconds, one turn of the wheel a frame, in a headless Chromium that
draws without a graphics card; a page can show 60 frames a second. The table tells the frames of a
second at the median time of one, which others on the machine hardly change, and the time that 95 of
100 frames do not exceed.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

from xlareport.report import BuildOptions, build
from xlareport.storage.payloads import SHARED, read_payload

ROOT = Path(__file__).parents[1]
BUNDLED = ROOT / "examples" / "transformer.tar.zst"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
WANTED = 30
"""Frames a second."""
LOOK_IN = ("pictures/*.js", "m/*/picture*.js", f"m/*/{SHARED}.js")
ZOOM = """async ([key, name, place, graph, seconds]) => {
  const { pictures } = await xlareport.load(key);
  const known = graph ? await xlareport.loadGraph(graph) : undefined;
  const svg = await xlareport.recordSvg(name ? pictures[name] : pictures, place, known);
  const figure = document.createElement("figure");
  figure.className = "xr-picture";
  document.querySelector("article").prepend(figure);
  const { canvas } = xlareport.interactivePicture(figure, "picture", svg);
  figure.scrollIntoView();
  const frame = () => new Promise(requestAnimationFrame);
  for (let warm = 0; warm < 5; warm += 1) await frame();
  const around = canvas.getBoundingClientRect();
  const [x, y] = [around.x + around.width / 2, around.y + around.height / 2];
  const middle = { clientX: x, clientY: y };
  const times = [await frame()];
  while (times.at(-1) - times[0] < seconds * 1000) {
    const deltaY = times.length % 80 < 40 ? -20 : 20;
    const turn = { ...middle, deltaY, ctrlKey: true, bubbles: true, cancelable: true };
    canvas.dispatchEvent(new WheelEvent("wheel", turn));
    times.push(await frame());
  }
  figure.remove();
  return [svg.length, ...times.slice(1).map((time, at) => time - times[at])];
}"""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the report and how much is in it."""

    key: str
    name: str
    """Of those of its payload that are looked at together; empty where these are all."""
    place: int
    """Among these."""
    graph: str | None
    """The payload of the graph that it is of, where rows name places in it."""
    boxes: int
    arrows: int


def main() -> None:
    """Measure the largest pictures of a site."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, nargs="?", help="the folder site/ of a report")
    parser.add_argument("--pictures", type=int, default=3, help="how many pictures (3)")
    parser.add_argument("--seconds", type=float, default=4, help="for each of them (4)")
    arguments = parser.parse_args()
    browser = chromium()
    with site_folder(arguments.site) as site:
        found = sorted(pictures(site), key=lambda one: -(one.boxes + one.arrows))
        measured = measure(browser, site, found[: arguments.pictures], arguments.seconds)
    show(found[: arguments.pictures], measured)


def chromium() -> str:
    """Return the path of the browser; ends the program where there is none."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        sys.exit("There is no Chromium to measure.")
    return browser


@contextmanager
def site_folder(named: Path | None) -> Iterator[Path]:
    """Yield the folder of the site that is named, else of one that is built for this."""
    if named is not None:
        yield named
        return
    with tempfile.TemporaryDirectory() as folder:
        build(BUNDLED, BuildOptions(out=Path(folder)))
        yield Path(folder) / "site"


def pictures(site: Path) -> Iterator[Picture]:
    """Yield every picture that the payloads of a site hold."""
    for key, value in payloads(site / "assets/data"):
        found = value.get("pictures", {}) if isinstance(value, dict) else {}
        named = found if isinstance(found, dict) else {"": found}
        graph = f"{key.rpartition('/')[0]}/graph"
        graph += "-first" if "pictures-first" in key else ""
        levels = graph if "/pictures-" in key else None
        for name, together in named.items():
            for place, one in enumerate(together):
                yield Picture(key, name, place, levels, len(one["nodes"]), len(one["edges"]))


def payloads(data: Path) -> Iterator[tuple[str, Any]]:
    """Yield the key and the value of each payload that may hold pictures."""
    for path in (one for pattern in LOOK_IN for one in data.glob(pattern)):
        key, value = read_payload(path.read_text("utf-8"))
        folder, _, name = key.rpartition("/")
        inside = value if name == SHARED else {name: value}
        drawn = (name for name in inside if folder == "pictures" or name.startswith("picture"))
        yield from ((f"{folder}/{name}", inside[name]) for name in drawn)


def measure(
    browser: str, site: Path, chosen: Sequence[Picture], seconds: float
) -> list[list[float]]:
    """Return how long the SVG of each picture is, then the milliseconds between its frames."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page: Page = launched.new_page(viewport={"width": 1400, "height": 1000})
        page.goto((site / "index.html").as_uri())
        measured: list[Any] = [
            page.evaluate(ZOOM, [one.key, one.name, one.place, one.graph, seconds])
            for one in chosen
        ]
        launched.close()
    return measured


def show(chosen: Sequence[Picture], measured: Sequence[Sequence[float]]) -> None:
    """Print the table."""
    table = Table(title="zooming in Chromium")
    table.add_column("picture", overflow="fold")
    for column in ("boxes", "arrows", "KB", "frames/s", "95 % within ms"):
        table.add_column(column, justify="right")
    for one, (length, *frames) in zip(chosen, measured, strict=True):
        rate = 1000 / median(frames)
        slow = sorted(frames)[int(len(frames) * 0.95)]
        size = f"{length / 1000:.0f}"
        name = f"{one.key} {one.name} {one.place}"
        row = (name, str(one.boxes), str(one.arrows), size, f"{rate:.0f}", f"{slow:.0f}")
        table.add_row(*row)
    Console().print(table)
    rates = [1000 / median(frames) for _, *frames in measured]
    print(
        f"The slowest responds at {min(rates, default=0):.0f} frames a second; {WANTED} are wanted."
    )


if __name__ == "__main__":
    main()
