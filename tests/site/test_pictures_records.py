"""Pictures that the page script writes, against those that the report writes into files."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.pictures.drawn import draw_all
from tests.report_files import payload_files

from xlareport.analysis.steps.step import step
from xlareport.pages import navigation
from xlareport.pages.pictures.levels import (
    level_record,
    picture_look,
    picture_record,
    snapshot_levels,
)
from xlareport.pages.pictures.snapshot_graph import graph_payloads
from xlareport.pictures.change import step_pictures
from xlareport.pictures.draw import PictureRequest, PictureResult
from xlareport.pictures.drawing import LEAVES, Arrow, Box, Drawing, Group, Opening
from xlareport.pictures.layout import Layout, Rectangle
from xlareport.pictures.levels import ModulePictures, all_levels
from xlareport.pictures.shade import NO_COLOR_DATA, Shade
from xlareport.pictures.svg import svg_text
from xlareport.program import ParsedModule
from xlareport.report import BuildOptions, read_one_module
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile, make_payload_file

pytestmark = pytest.mark.browser

Unpack = Callable[[str], Path]

DRAW = """async ([records, place]) => {
  const svg = await xlareport.recordSvg(records, place);
  const read = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  return [read.localName, svg];
}"""
TOLD = """async () => {
  const graph = await xlareport.loadGraph("m/x/graph");
  const { pictures } = await xlareport.load("m/x/levels-1");
  const box = ({ id, lines, badge, opens, mix, shape, shade }) => {
    const { memory, sharding, scope } = shade;
    return { id, lines, badge, opens, mix, shape, memory, sharding, scope };
  };
  const told = (one) => xlareport.readDrawing(one, graph).nodes.map(box);
  return Object.fromEntries(Object.entries(pictures).map(([target, [one]]) => [target, told(one)]));
}"""
"""What the page makes of pictures whose boxes stand in a graph."""
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
POINTED = re.compile(
    r'<g class="open".*?</g>|<text class="mark .*?</text>|(?<=>)<title>[^<]*</title>'
)
"""What only a page has: marks that open pictures or stand for other modes, and tooltips."""
ATTRIBUTES = re.compile(r' data-[\w-]+="[^"]*"')
LEGENDS = re.compile(r'<g class="legend of-(\w+)">\n(.*?)\n</g>\n', re.DOTALL)


def plain(svg: str) -> str:
    """Return a picture of the page without what a pointer does, its height left open."""
    svg = LEGENDS.sub(lambda match: f"{match[2]}\n" if match[1] == "opcode" else "", svg)
    head, _, rest = svg.partition("\n")
    head = re.sub(r' (?:viewBox|height)="[^"]*"', "", head.replace(" by-opcode", ""))
    return ATTRIBUTES.sub("", f"{head}\n{POINTED.sub('', STYLE.sub('', rest))}")


def rounded(layout: Layout) -> Layout:
    """Return a layout in whole units, as records hold it."""

    def box(one: Rectangle) -> Rectangle:
        return Rectangle(round(one.x), round(one.y), round(one.width), round(one.height))

    return Layout(
        round(layout.width),
        round(layout.height),
        tuple(map(box, layout.nodes)),
        tuple(tuple((round(x), round(y)) for x, y in edge) for edge in layout.edges),
        tuple(map(box, layout.groups)),
    )


def everything(hostile: str) -> Drawing:
    """Return a drawing with all that a picture can have."""
    opens = (Opening("c=body", f"body {hostile}"), Opening("c=cond", "condition"))
    sharded = Shade(0.02, 70_000, "{devices=[2,2]0,1,2,3}", ("model", "layer_1", "attention"))
    nodes = (
        Box("a", ("a", hostile[:30]), "orange", "context", hostile, f"i={hostile}"),
        Box("b", ("b", "dot"), "dark-blue", "added", target="i=b", opens=opens, shade=sharded),
        Box("g=c", ("c", "x 4"), "gray", "changed", target="g=c", shape="stack", badge=LEAVES),
        Box(
            "d",
            ("d",),
            "gray",
            "removed",
            target="i=d",
            shape="round",
            badge="OUT 0, 1",
            mix=(("green", 2), ("white", 2)),
            shade=Shade(0.5, None, "{replicated}", ("model", "layer_2", "mlp")),
        ),
    )
    edges = (
        Arrow("a", "b", "0#1"),
        Arrow("b", "g=c", "", "thin", "added"),
        Arrow("g=c", "d", "1", "control"),
    )
    inner = Group("f", "call.1 " * 20, "computation", ("b",), None, "changed", "i=call.1", opens)
    return Drawing(
        f"all of it {hostile}", nodes, edges, (inner,), ("A note, " * 30 + "long.", "Another.")
    )


@pytest.fixture(scope="module")
def train_step(unpacked: Unpack) -> ParsedModule:
    return read_one_module(unpacked("gpu-h100x2-train"), None, BuildOptions())


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile], train_step: ParsedModule
) -> Path:
    out = tmp_path_factory.mktemp("records")
    files = [*few_pages]
    files.append(make_payload_file(navigation.PICTURE_LOOK, picture_look()))
    assert train_step.final is not None
    graph = graph_payloads("m/x/graph", train_step.final, None)
    levels = snapshot_levels(
        "m/x/levels", "m/x/graph", train_step.final.hlo, NO_COLOR_DATA, every=True
    )
    assert levels is not None
    write_sources(out, [*files, *payload_files(*graph, *levels.payloads)])
    build_site(out)
    return out / "site"


def drawn(tmp_path: Path, *requests: PictureRequest) -> list[PictureResult]:
    """Return pictures whose layouts are in whole units."""
    found = draw_all(requests, 1, tmp_path / "cache")
    placed = ((one, [(drawing, rounded(it)) for drawing, it in one.placed]) for one in found)
    return [replace(one, placed=tuple(pairs)) for one, pairs in placed]


def check(visitor: Any, site: Path, results: list[PictureResult]) -> None:
    """Check that the page draws what a file shows: boxes, arrows, frames, notes and legend."""
    page = visitor.open(f"{site.as_uri()}/m/x.html")
    for one in results:
        records = [picture_record(*placed) for placed in one.placed]
        for place, (drawing, layout) in enumerate(one.placed):
            root, written = page.evaluate(DRAW, [records, place])
            assert root == "svg"
            assert plain(written) == plain(svg_text(drawing, layout))
    assert visitor.complaints == []


def test_a_picture_with_everything_is_the_same(
    visitor: Any, site: Path, tmp_path: Path, hostile: str
) -> None:
    one = everything(hostile)
    other = replace(one, nodes=one.nodes[1:], edges=one.edges[1:], title="", notes=())
    alone = Drawing("modules", one.nodes[:2], one.edges[:1], has_legend=False)
    check(
        visitor,
        site,
        drawn(tmp_path, PictureRequest("p", (one, other)), PictureRequest("q", (alone,))),
    )


def test_pictures_of_a_real_module_are_the_same(
    visitor: Any, site: Path, tmp_path: Path, train_step: ParsedModule
) -> None:
    before, after = train_step.snapshots[0].hlo, train_step.snapshots[-1].hlo
    sides = step_pictures(step(before, after, ""))
    assert sides is not None
    whole = ModulePictures(after).overview()
    check(
        visitor,
        site,
        drawn(tmp_path, PictureRequest("s", sides.pair), PictureRequest("w", (whole,))),
    )


PLACES = """async (records) => {
  const svgs = await Promise.all(records.map((_, place) => xlareport.recordSvg(records, place)));
  return svgs.map((svg) => {
    const read = new DOMParser().parseFromString(svg, "image/svg+xml");
    const boxes = [...read.querySelectorAll("g.n")];
    const place = (one) => [one.getAttribute("transform"), one.querySelector(".box").outerHTML];
    return Object.fromEntries(boxes.map((one) => [one.dataset.node, place(one)]));
  });
}"""


def test_what_is_in_both_of_a_pair_stands_in_the_same_place(visitor: Any, site: Path) -> None:
    a, b, c = (Box(name, (f"{name} = f32[8]",), "blue") for name in "abc")
    wide = b._replace(lines=("b = f32[8] with much more to say than before",))
    before = Drawing("before", (a, b), (Arrow("a", "b"),))
    after = Drawing("after", (c, wide, a), (Arrow("a", "c"), Arrow("c", "b"), Arrow("a", "b")))
    first = picture_record(
        before, Layout(9.0, 9.0, (Rectangle(0, 0, 1, 1),) * 2, (((0, 0), (1, 1)),))
    )
    page = visitor.open(f"{site.as_uri()}/m/x.html")
    records = [first, first, level_record(before), level_record(after)]
    _, laid_out, one, other = page.evaluate(PLACES, records)
    assert list(one) == ["a", "b"]
    assert list(other) == ["c", "b", "a"]
    assert {name: one[name] for name in "ab"} == {name: other[name] for name in "ab"}
    assert one != laid_out
    assert visitor.complaints == []


def test_boxes_that_stand_in_a_graph_say_the_same(
    visitor: Any, site: Path, train_step: ParsedModule
) -> None:
    assert train_step.final is not None
    module = train_step.final.hlo
    page = visitor.open(f"{site.as_uri()}/m/x.html")
    told = page.evaluate(TOLD)
    drawings = {level.target: level.drawing for level in all_levels(module, ModulePictures(module))}
    assert told
    for target, boxes in told.items():
        expected = [
            {
                "id": node.id,
                "lines": list(node.lines),
                "badge": node.badge,
                "opens": [[opening.target, opening.words] for opening in node.opens],
                "mix": [list(part) for part in node.mix],
                "shape": node.shape,
                "memory": node.shade.memory,
                "sharding": node.shade.sharding,
                "scope": list(node.shade.scope),
            }
            for node in drawings[target].nodes
        ]
        assert boxes == expected
