"""Scores whether every picture of reports keeps the promises: size, time of layout, ways in.

Usage: `python benchmarks/score_pictures.py [SITE ...]`; a site is the folder `site/` of a report.
Without one a report of each dump at hand is built; XLAREPORT_DUMPS names a folder of further ones.

For each report: how many pictures it has, the most boxes and arrows and the largest SVG (at most
200, 600 and 1 MB are promised), the longest layout, and how many instructions of the pictured
snapshots no way of clicks leads to, from the first picture of each. Chromium writes every SVG as
the page does and lays out what the page lays out. What was laid out beforehand had a limit of time;
`plain` counts the pictures in which it ran out. Ends with 1 where a promise is broken.
"""

import re
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

from bench_zooming import Picture, chromium, pictures
from dumps import dumps
from playwright.sync_api import Page, sync_playwright

from xlareport.pages import navigation
from xlareport.pictures.drawing import EDGE_LIMIT, NODE_LIMIT
from xlareport.report import BuildOptions, build
from xlareport.storage.payloads import read_stored_value
from xlareport.storage.string_folding import Folded, unfold_strings

_LAYOUT_LIMIT = 2000
"""Milliseconds."""
_SIZE_LIMIT = 1_000_000
"""Bytes of one picture."""
_AT_A_TIME = 100
_HEADS = (
    "pictures",
    "boxes",
    "arrows",
    "svg_KB",
    "layout_ms",
    "plain",
    "instructions",
    "unreached",
)
_MOST_TARGETS = 10_000_000
_FIRST = re.compile(
    r'data-xr-picture="(?P<key>[^"]+)" data-name="(?P<name>[^"]+)" data-levels="(?P<levels>[^"]+)"'
)
_WRITTEN = """async (asked) => {
  const found = [];
  for (const [key, name, place, graph] of asked) {
    const { pictures } = await xlareport.load(key);
    const known = graph ? await xlareport.loadGraph(graph) : undefined;
    const records = name ? pictures[name] : pictures;
    const record = records[place];
    const start = performance.now();
    xlareport.recordLayout(record, xlareport.readDrawing(record, known));
    const took = performance.now() - start;
    const svg = await xlareport.recordSvg(records, place, known);
    const plain = /because the layout/.test((record.notes ?? []).join());
    found.push([new Blob([svg]).size, took, plain]);
  }
  return found;
}"""


@dataclass(slots=True)
class Score:
    """What a report's pictures are at their worst."""

    pictures: int = 0
    boxes: int = 0
    arrows: int = 0
    svg: int = 0
    """Bytes of the largest, of those written beforehand and by the page."""
    layout: float = 0
    """Milliseconds of the longest that the page makes."""
    plain: int = 0
    instructions: int = 0
    unreached: int = 0

    @property
    def kept(self) -> bool:
        """Whether all promises are kept."""
        small = self.boxes <= NODE_LIMIT and self.arrows <= EDGE_LIMIT and self.svg <= _SIZE_LIMIT
        return small and self.layout <= _LAYOUT_LIMIT and not self.unreached


@dataclass(frozen=True, slots=True)
class Level:
    """The pictures behind a first one, as a reader meets them."""

    site: Path
    """The folder of the site."""
    key: str
    index: Mapping[str, Any]
    graph: Mapping[str, Any]
    bundles: dict[int, Mapping[str, Any]] = field(default_factory=dict)

    def targets(self) -> list[str]:
        """Return what the pictures are called, the first one leading."""
        return list(unfold_strings(Folded(*self.index["targets"]), _MOST_TARGETS))

    def record(self, place: int, target: str) -> Mapping[str, Any]:
        """Return a picture behind the first."""
        bundle = self.index["in"][place]
        if bundle not in self.bundles:
            self.bundles[bundle] = read_stored_value(self.site, f"{self.key}-{bundle}")["pictures"]
        record: Mapping[str, Any] = self.bundles[bundle][target][0]
        return record

    def opened(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield the targets that a click in a picture opens."""
        for row in record["nodes"]:
            if isinstance(row[0], int):
                yield from self._called(row[0])
            else:
                yield from _named(row, 2, 6)
        for row in record.get("groups", ()):
            yield from _named(row, 3, 5)

    def _called(self, place: int) -> Iterator[str]:
        worth, numbers = self.graph["inside"]
        for _, called in self.graph["calls"].get(str(place), ()):
            if worth[numbers[called]][0]:
                yield f"c={self.graph['computations'][called][0]}"


def _named(row: Sequence[Any], target: int, opens: int) -> Iterator[str]:
    if len(row) > target and row[target]:
        yield row[target]
    if len(row) > opens and row[opens]:
        yield from row[opens][::2]


def main() -> None:
    """Print a line for each report; end with 1 where a promise is broken."""
    print(f"{'report':34}" + "".join(f"{head:>13}" for head in _HEADS))
    kept = True
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for name, site in _sites([Path(one) for one in sys.argv[1:]]):
            page = launched.new_page()
            score = scored(site, page)
            page.close()
            kept &= score.kept
            print(_row(name, score), flush=True)
        launched.close()
    sys.exit(0 if kept else 1)


def _sites(named: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    for one in named:
        yield one.resolve().parent.name, one
    for dump in () if named else dumps():
        with tempfile.TemporaryDirectory() as folder:
            build(dump, BuildOptions(out=Path(folder)))
            yield dump.name, Path(folder) / "site"


def _row(name: str, one: Score) -> str:
    cells = (
        f"{one.pictures:,}",
        str(one.boxes),
        str(one.arrows),
        f"{one.svg / 1000:.0f}",
        f"{one.layout:.0f}",
        str(one.plain),
        f"{one.instructions:,}",
        f"{one.unreached:,}",
    )
    return (
        f"{name:34}" + "".join(f"{cell:>13}" for cell in cells) + ("" if one.kept else "  BROKEN")
    )


def scored(site: Path, page: Page) -> Score:
    """Look at every picture of a site."""
    score = Score(svg=max((one.stat().st_size for one in site.glob("pictures/*.svg")), default=0))
    page.goto((site / "index.html").as_uri())
    found = list(pictures(site))
    for first in range(0, len(found), _AT_A_TIME):
        _draw(page, found[first : first + _AT_A_TIME], score)
    for path in site.glob("m/*.html"):
        for match in _FIRST.finditer(_graph_part(site, path.stem)):
            _walk(site, match, score)
    return score


def _graph_part(site: Path, slug: str) -> str:
    """Return the HTML of a module's graph; empty where it has none."""
    key = navigation.part_key(navigation.module_page(slug, "graph"))
    try:
        return unescape(read_stored_value(site, key)["html"])
    except FileNotFoundError:
        return ""


def _draw(page: Page, some: Sequence[Picture], score: Score) -> None:
    """Have the page write some pictures, and note what is worst."""
    asked = [[one.key, one.name, one.place, one.graph] for one in some]
    score.pictures += len(some)
    for one, (size, took, plain) in zip(some, page.evaluate(_WRITTEN, asked), strict=True):
        score.boxes = max(score.boxes, one.boxes)
        score.arrows = max(score.arrows, one.arrows)
        score.svg = max(score.svg, size)
        score.layout = max(score.layout, took)
        score.plain += plain


def _walk(site: Path, first: re.Match[str], score: Score) -> None:
    """Click through all pictures from the first; count what none of them has."""
    key = first["levels"]
    index = read_stored_value(site, key)
    level = Level(site, key, index, read_stored_value(site, index["graph"]))
    targets = level.targets()
    places = {target: place for place, target in enumerate(targets)}
    seen = {0}
    waiting = deque([read_stored_value(site, first["key"])["pictures"][first["name"]][0]])
    while waiting:
        for target in level.opened(waiting.popleft()):
            place = places.get(target, 0)
            if place not in seen:
                seen.add(place)
                waiting.append(level.record(place, target))
    runs = read_stored_value(site, f"{key}-where")
    for place, many in zip(runs[::2], runs[1::2], strict=True):
        score.instructions += many
        score.unreached += 0 if place in seen else many


if __name__ == "__main__":
    main()
