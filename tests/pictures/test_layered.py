"""The plain layout needs no Graphviz and puts nothing on top of anything."""

from itertools import combinations

from xlareport.pictures.drawing import Arrow, Box, Drawing
from xlareport.pictures.layered import layered_layout


def graph(count: int) -> Drawing:
    nodes = tuple(Box(f"n{n}", (f"n{n}", "x" * (n % 13)), "white") for n in range(count))
    edges = {(n * 5 % (m + 1), m) for m in range(1, count) for n in range(2)}
    return Drawing("", nodes, tuple(Arrow(f"n{a}", f"n{b}") for a, b in sorted(edges) if a != b))


def test_users_stand_below() -> None:
    drawing = graph(60)
    layout = layered_layout(drawing)
    boxes = {node.id: box for node, box in zip(drawing.nodes, layout.nodes, strict=True)}
    for edge in drawing.edges:
        source, target = boxes[edge.source], boxes[edge.target]
        assert source.y + source.height < target.y


def test_no_boxes_overlap_and_all_are_on_the_page() -> None:
    layout = layered_layout(graph(60))
    for one, other in combinations(layout.nodes, 2):
        apart = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert apart or one.y + one.height <= other.y or other.y + other.height <= one.y
    assert min(box.x for box in layout.nodes) >= 0
    assert max(box.x + box.width for box in layout.nodes) <= layout.width


def test_arrows_lead_from_box_to_box() -> None:
    drawing = graph(20)
    layout = layered_layout(drawing)
    boxes = {node.id: box for node, box in zip(drawing.nodes, layout.nodes, strict=True)}
    for edge, curve in zip(drawing.edges, layout.edges, strict=True):
        assert len(curve) == 4
        assert curve[0][1] == boxes[edge.source].y + boxes[edge.source].height
        assert curve[-1][1] == boxes[edge.target].y


def test_circles_and_loops_end() -> None:
    nodes = tuple(Box(name, (name,), "white") for name in "abc")
    edges = (Arrow("a", "b"), Arrow("b", "c"), Arrow("c", "a"), Arrow("b", "b"))
    assert len(layered_layout(Drawing("", nodes, edges)).edges) == 4


def test_an_empty_drawing_has_an_empty_layout() -> None:
    assert layered_layout(Drawing("", ())).nodes == ()
