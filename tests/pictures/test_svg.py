"""The SVG is one file that needs nothing, tells what it shows, and holds nothing foreign."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import TypeAlias

import pytest
from msgspec.structs import replace

from xlareport.hlo.model import HloModule
from xlareport.pictures import svg
from xlareport.pictures.drawing import Arrow, Box, Drawing, Group, Opening
from xlareport.pictures.layered import layered_layout
from xlareport.pictures.layout import Layout, Rectangle
from xlareport.pictures.levels import ModulePictures
from xlareport.pictures.svg import svg_text

Draw: TypeAlias = Callable[[Drawing], ET.Element]

SVG = "{http://www.w3.org/2000/svg}"
TIMES = "\N{MULTIPLICATION SIGN} 12"
HOSTILE = "<script>alert(1)</script>\"' onload=x &#x3c; ]]> \x00\u202e"
BODY = Opening("c=region_0", "body region_0")
DRAWING = Drawing(
    "jit_f: entry",
    (
        Box("a", ("dot.5", "f32[2]"), "dark-blue", "added", "dot.5\nsource.py:3", "i=dot.5"),
        Box("b", ("layers", TIMES), "gray", shape="stack", mix=(("white", 3), ("purple", 1))),
        Box(
            "c",
            ("add.1",),
            "white",
            "removed",
            badge="ROOT",
            opens=(Opening("c=region_0", "body region_0"),),
        ),
    ),
    (Arrow("a", "b", "0"), Arrow("b", "c", style="thin", state="removed")),
    (Group("g", "fusion.1 kLoop", "computation", ("b",), target="i=fusion.1"),),
    ("One thing is left out.",),
)


@pytest.fixture
def drawn(parse: Callable[[str], ET.Element]) -> Draw:
    """Return a function that draws in plain layers and reads the SVG."""

    def draw(drawing: Drawing) -> ET.Element:
        layout = layered_layout(drawing)
        frames = tuple(Rectangle(0, 0, 200, 100) for _ in drawing.groups)
        return parse(svg_text(drawing, replace(layout, groups=frames)))

    return draw


def texts(root: ET.Element, tag: str) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter(SVG + tag)]


def test_it_has_a_title_a_description_and_a_legend(drawn: Draw) -> None:
    root = drawn(DRAWING)
    assert root.findtext(f"{SVG}title") == "jit_f: entry"
    assert root.findtext(f"{SVG}desc") == "3 boxes, 2 arrows. One thing is left out."
    assert "dot, convolution" in texts(root, "text")
    assert "One thing is left out." in texts(root, "text")


def test_text_is_text(drawn: Draw) -> None:
    root = drawn(DRAWING)
    assert {"dot.5", "f32[2]", "layers", TIMES, "add.1"} <= set(texts(root, "tspan"))
    assert {"fusion.1 kLoop", "ROOT", "+", "\N{MINUS SIGN}"} <= set(texts(root, "text"))


def boxes(root: ET.Element) -> list[ET.Element]:
    return [
        element for element in root.iter(f"{SVG}g") if element.get("class", "").startswith("n ")
    ]


def test_boxes_arrows_and_frames_have_their_states(drawn: Draw) -> None:
    root = drawn(DRAWING)
    assert [box.get("class") for box in boxes(root)] == [
        *("n n-dark-blue s-added", "n n-gray s-same", "n n-white s-removed"),
    ]
    arrows = [element.get("class") for element in root.iter(f"{SVG}path")]
    assert arrows[:2] == ["e", "e e-thin s-removed"]
    assert [element.get("class") for element in root.iter(f"{SVG}g")][1] == "g g-computation s-same"


def test_a_stack_has_two_sheets_and_a_bar_its_shares(drawn: Draw) -> None:
    root = drawn(DRAWING)
    stack = boxes(root)[1]
    sheets = [element for element in stack.iter(f"{SVG}rect") if element.get("class") == "box"]
    bars = {
        element.get("class"): float(element.get("width", "0"))
        for element in stack.iter(f"{SVG}rect")
        if str(element.get("class")).startswith("mix ")
    }
    assert len(sheets) == 2
    assert bars["mix f-white"] == pytest.approx(3 * bars["mix f-purple"], rel=0.05)


def test_a_hostile_text_stays_text(drawn: Draw) -> None:
    opens = (Opening(HOSTILE, HOSTILE),)
    node = Box(HOSTILE, (HOSTILE, HOSTILE), "white", "same", HOSTILE, HOSTILE, opens)
    group = Group(HOSTILE + "g", HOSTILE, "scope", (HOSTILE,), target=HOSTILE)
    drawing = Drawing(HOSTILE, (node,), (Arrow(HOSTILE, HOSTILE, HOSTILE),), (group,), (HOSTILE,))
    root = drawn(drawing)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "g", "text", "tspan", "path", "circle"}
    names = {name for element in root.iter() for name in element.attrib}
    assert names <= {
        *("class", "d", "x", "y", "dy", "cx", "cy", "r", "rx", "width", "height", "transform"),
        *("role", "viewBox"),
    }


def test_nothing_is_loaded_and_nothing_runs() -> None:
    text = svg_text(DRAWING, replace(layered_layout(DRAWING), groups=(Rectangle(0, 0, 9, 9),)))
    assert re.findall(r"https?:[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"url\(|@import|href|<script|<image|<foreignObject|javascript:", text)
    assert " id=" not in text


def test_a_title_wider_than_the_picture_is_cut(drawn: Draw) -> None:
    root = drawn(replace(DRAWING, title="x" * 500))
    [title] = [element for element in root.iter(f"{SVG}text") if element.get("class") == "title"]
    assert len(title.text or "") < 80


def test_an_arrow_without_direction_is_drawn() -> None:
    drawing = Drawing("", (Box("a", ("a",), "white"),), (Arrow("a", "a"),))
    layout = Layout(10, 10, (Rectangle(0, 0, 10, 10),), (((5.0, 5.0),) * 4,))
    assert "nan" not in svg_text(drawing, layout)


def test_a_real_module(
    dumped: Callable[[str, str], HloModule],
    lay_out: Callable[[Drawing], Layout],
    parse: Callable[[str], ET.Element],
) -> None:
    module = dumped("jax-cpu-train", "jit_train_step.cpu_after_optimizations.txt")
    drawing = ModulePictures(module).overview()
    layout = lay_out(drawing)
    text = svg_text(drawing, layout)
    root = parse(text)
    assert len(boxes(root)) == len(drawing.nodes)
    assert len(text) < 100_000
    assert text == svg_text(drawing, layout)


def test_every_line_fits_into_its_box(lay_out: Callable[[Drawing], Layout]) -> None:
    layout = lay_out(DRAWING)
    for node, box in zip(DRAWING.nodes, layout.nodes, strict=True):
        assert box.width >= 7.2 * max(map(len, node.lines)) + 8


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("<script>alert('1')</script>", "&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;"),
        ('a & b "c"', "a &amp; b &quot;c&quot;"),
        ("]]>", "]]&gt;"),
        ("two\nlines", "two\nlines"),
        ("bell\x07 null\0 escape\x1b", "bell  null  escape "),
        ("turn\u202eed", "turn ed"),
        ("\ud800\ufffe\uffff", "   "),
        ("naïve 日本", "naïve 日本"),
    ],
)
def test_nothing_of_a_name_becomes_markup(
    value: str, written: str, parse: Callable[[str], ET.Element]
) -> None:
    assert svg.text(value) == written
    assert parse(f"<a b='{svg.text(value)}'>{svg.text(value)}</a>").text


@pytest.mark.parametrize(
    ("value", "written"),
    [(12, "12"), (3.14159, "3.1"), (-0.01, "0"), (-2.06, "-2.1"), (100.04, "100"), (0, "0")],
)
def test_number(value: float, written: str) -> None:
    assert svg.number(value) == written


def rows(root: ET.Element) -> list[tuple[float, str]]:
    """Return where each line of the footer stands, and its words."""
    notes = [element for element in root.iter(f"{SVG}text") if element.get("class") == "note"]
    return [(float(note.get("y", "0")), note.text or "") for note in notes]


def test_a_long_note_is_wrapped(drawn: Draw) -> None:
    root = drawn(Drawing("", (Box("a", ("a",), "white"),), notes=("word " * 60,), has_legend=False))
    lines = rows(root)
    assert len(lines) > 4
    assert all(len(words) * 6.7 <= 380 for _, words in lines)
    assert float(root.get("height", "0")) > 16 * len(lines)


def test_the_legend_begins_new_rows(drawn: Draw) -> None:
    families = ("white", "yellow", "green", "dark-blue", "purple", "gray", "brown")
    nodes = tuple(Box(name, (name,), name) for name in families)
    root = drawn(Drawing("", nodes))
    lines = rows(root)
    assert len(lines) == len(families)
    assert 1 < len({y for y, _ in lines}) < len(families)
    assert max(y for y, _ in lines) < float(root.get("height", "0"))
