"""Whatever the graph, its pictures keep the limits, reach everything and hold nothing foreign."""

import re
import xml.etree.ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.modules import parse_module
from tests.walks import examples

from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule
from xlareport.pictures.boxes import is_worth_opening
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.change import change_pictures
from xlareport.pictures.dot_text import dot_text
from xlareport.pictures.drawing import Arrow, Box, Drawing, Group, Opening
from xlareport.pictures.flow import find_repeat
from xlareport.pictures.layered import layered_layout
from xlareport.pictures.layout import Layout, Rectangle
from xlareport.pictures.levels import ModulePictures, all_levels
from xlareport.pictures.pair import restrict, union
from xlareport.pictures.scene import Instance
from xlareport.pictures.svg import svg_text

OPCODES = ("abs", "add", "dot", "reshape", "broadcast", "tuple", "get-tuple-element", "constant")
SHAPES = ("f32[]", "f32[8]", "f32[64,128]", "(f32[8], s32[])")
SCOPES = ("", "a/x", "a/b/x", "h_0/x", "h_1/x", "h_2/x", "h_3/x", "vmap(a/b)/x")
STATEMENT = re.compile(
    r"n\d+ \[width=[\d.]+, height=[\d.]+\];"
    r"|n\d+ -> n\d+ \[id=e\d+(?:, weight=0)?(?:, minlen=\d+)?\];"
    r"|subgraph cluster_\d+ \{|margin=18;|(?:n\d+; ?)*|\}"
)

texts = st.text(max_size=30) | st.sampled_from(('"', "\\", "]]>", "<script>", "a\nb", "\x00"))


@st.composite
def instructions(draw: st.DrawFn, prefix: str, called: tuple[str, ...], most: int) -> str:
    """Return lines of a computation, some of which call others."""
    lines = [f"  {prefix}0 = f32[8] parameter(0)"]
    for n in range(1, draw(st.integers(2, most))):
        opcode = draw(st.sampled_from(OPCODES))
        made = [f"{prefix}{draw(st.integers(0, n - 1))}" for _ in range(draw(st.integers(1, 3)))]
        shape, scope = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(SCOPES))
        extra = f', metadata={{op_name="jit(f)/{scope}"}}' if scope else ""
        operands = ", ".join(made[:1] if opcode == "get-tuple-element" else made)
        if opcode == "constant":
            operands = "7"
        if opcode == "get-tuple-element":
            extra = ", index=0" + extra
        if called and draw(st.integers(0, 4)) == 0:
            opcode, extra = "fusion", f", kind=kLoop, calls={draw(st.sampled_from(called))}"
        root = "ROOT " if n > 1 and draw(st.integers(0, 9)) == 0 else ""
        lines.append(f"  {root}{prefix}{n} = {shape} {opcode}({operands}){extra}")
    return "\n".join(lines)


@st.composite
def modules(draw: st.DrawFn, most: int = 40) -> HloModule:
    """Return a module with an entry and two computations that it may call."""
    drawing = draw(instructions("p", ("two",), 8))
    two = draw(instructions("q", (), 8))
    entry = draw(instructions("i", ("one", "two"), most))
    text = f"HloModule m\n\ntwo {{\n{two}\n}}\n\none {{\n{drawing}\n}}\n\nENTRY e {{\n{entry}\n}}\n"
    return parse_module(text)


def check(drawing: Drawing) -> None:
    """Check what holds for every drawing."""
    assert len(drawing.nodes) <= 200
    assert len(drawing.edges) <= 600
    dot = dot_text(drawing)
    assert all(STATEMENT.fullmatch(line) for line in dot.splitlines()[4:])
    assert dot == dot_text(drawing)


@examples(30)
@given(modules())
def test_every_picture_of_a_module(module: HloModule) -> None:
    seen = set()
    for level in all_levels(module, ModulePictures(module)):
        check(level.drawing)
        seen |= {one.target for one in (*level.drawing.nodes, *level.drawing.groups)}
    for computation in filter(is_worth_opening, module.computations):
        drawn = Instance(Folding(computation, inputs=False)).drawn()
        assert {f"i={one.name}" for one in drawn} <= seen


@examples(10)
@given(modules(most=400))
def test_a_large_module_is_divided(module: HloModule) -> None:
    for level in all_levels(module, ModulePictures(module)):
        check(level.drawing)


@examples(30)
@given(modules(), modules(), st.data())
def test_the_pictures_of_any_step(before: HloModule, after: HloModule, data: st.DataObject) -> None:
    def some(module: HloModule) -> list[Place]:
        places = [
            Place(c.name, instruction.name)
            for c in module.computations
            for instruction in c.instructions
        ]
        return data.draw(st.lists(st.sampled_from(places), unique=True, max_size=20))

    removed, added, old, new = some(before), some(after), some(before), some(after)
    drawn = change_pictures(before, after, removed, added, list(zip(old, new, strict=False)))
    pair, whole = drawn.pair, union(drawn.pair)
    for drawing in (side for place in drawn.places for side in place.pair):
        check(drawing)
        assert not drawing.groups
        assert parsed(drawing, layered_layout(drawing)).tag.endswith("svg")
    for drawing in pair:
        check(drawing)
        assert parsed(*restrict(drawing, whole, framed(whole))).tag.endswith("svg")


def framed(drawing: Drawing) -> Layout:
    """Return a plain layout with a place for every frame."""
    layout = layered_layout(drawing)
    return replace(layout, groups=tuple(Rectangle(0, 0, 9, 9) for _ in drawing.groups))


def parsed(drawing: Drawing, layout: Layout) -> ET.Element:
    return ET.fromstring(svg_text(drawing, layout))  # noqa: S314 - our own text


@settings(deadline=None)
@given(st.lists(texts, min_size=1, max_size=5), texts, texts)
def test_no_text_leaves_its_place(lines: list[str], name: str, title: str) -> None:
    opens = (Opening(name, title),)
    node = Box(name, tuple(lines), "white", "changed", title, title, opens, badge=title)
    drawing = Drawing(
        title,
        (node,),
        (Arrow(name, name, title),),
        (Group(title, title, "scope", (name,), target=name, opens=opens),),
        tuple(lines),
    )
    check(drawing)
    root = parsed(drawing, framed(drawing))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "g", "text", "tspan", "path", "circle"}


@given(st.lists(st.integers(0, 3), max_size=80))
@examples(100)
def test_a_repeat_repeats(things: list[int]) -> None:
    repeat = find_repeat(things)
    if repeat is not None:
        first = things[repeat.start : repeat.start + repeat.period]
        assert things[repeat.start : repeat.end] == first * repeat.count
        assert repeat.count >= 3


@given(st.lists(st.integers(0, 9), min_size=4, max_size=10, unique=True), st.integers(3, 9))
@examples(100)
def test_a_layer_is_found(layer: list[int], count: int) -> None:
    repeat = find_repeat([-1, *layer * count, -2])
    assert repeat is not None
    assert (repeat.period, repeat.count) == (len(layer), count)
