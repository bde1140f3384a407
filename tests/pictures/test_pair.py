"""What is in both pictures stands in the same place, in boxes of its own size."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from xlareport.pictures.drawing import Arrow, Box, Drawing, Group
from xlareport.pictures.layout import Layout
from xlareport.pictures.metrics import node_size
from xlareport.pictures.pair import only, restrict, union

BEFORE = Drawing(
    "before",
    (
        Box("a", ("a",), "white"),
        Box("b", ("b", "a longer line"), "white", "removed"),
        Box("c", ("c",), "white", "changed"),
    ),
    (Arrow("a", "b"), Arrow("b", "c")),
)
AFTER = Drawing(
    "after",
    (
        Box("a", ("a",), "white"),
        Box("n", ("n",), "white", "added"),
        Box("c", ("c", "now", "with more"), "white", "changed"),
    ),
    (Arrow("a", "n"), Arrow("n", "c")),
    (Group("g", "g", "computation", ("n", "c")),),
)


@pytest.fixture
def parts(lay_out: Callable[[Drawing], Layout]) -> list[tuple[Drawing, Layout]]:
    """Return both drawings with their parts of the layout of their union."""
    whole = union((BEFORE, AFTER))
    layout = lay_out(whole)
    return [restrict(one, whole, layout) for one in (BEFORE, AFTER)]


def test_the_union_has_everything_once() -> None:
    whole = union((BEFORE, AFTER))
    assert [node.id for node in whole.nodes] == ["a", "b", "c", "n"]
    assert len(whole.edges) == 4
    assert whole.groups[0].members == ("c", "n")


def test_a_box_is_as_large_as_where_it_is_largest() -> None:
    sizes = {node.id: node_size(node) for node in union((BEFORE, AFTER)).nodes}
    assert sizes["c"] == node_size(AFTER.nodes[2])
    assert sizes["b"] == node_size(BEFORE.nodes[1])
    assert union((AFTER, BEFORE)).nodes[2].lines == ("c", "now", "with more")


def test_what_stays_stands_still(parts: list[tuple[Drawing, Layout]]) -> None:
    (before, here), (after, there) = parts
    assert (here.width, here.height) == (there.width, there.height)
    old = {node.id: box for node, box in zip(before.nodes, here.nodes, strict=True)}
    new = {node.id: box for node, box in zip(after.nodes, there.nodes, strict=True)}
    assert {name for name in old if old.get(name) == new.get(name)} == {"a", "c"}


def test_each_keeps_its_own(parts: list[tuple[Drawing, Layout]]) -> None:
    (before, here), (after, there) = parts
    assert (before, after) == (BEFORE, AFTER)
    assert (len(here.edges), len(there.edges)) == (2, 2)
    assert (len(here.groups), len(there.groups)) == (0, 1)


def test_what_leaves_a_frame_stands_where_the_frame_was(
    lay_out: Callable[[Drawing], Layout],
) -> None:
    framed = replace(BEFORE, groups=(Group("old", "old", "computation", ("b", "c")),))
    bare = replace(AFTER, groups=())
    whole = union((framed, bare))
    assert whole.groups[0].members == ("b", "c")
    _, layout = restrict(bare, whole, lay_out(whole))
    assert layout.groups == ()


def test_a_frame_without_a_place_of_its_own_is_put_around_its_boxes(
    lay_out: Callable[[Drawing], Layout],
) -> None:
    framed = replace(BEFORE, groups=(Group("old", "old", "computation", ("c",)),))
    whole = union((framed, AFTER))
    assert [group.id for group in whole.groups] == ["g"]
    drawing, layout = restrict(framed, whole, lay_out(whole))
    frame, box = layout.groups[0], layout.nodes[2]
    assert drawing.nodes[2].id == "c"
    assert frame.x < box.x
    assert frame.y < box.y
    assert frame.x + frame.width > box.x + box.width


def test_the_union_keeps_the_limits() -> None:
    def numbered(start: int) -> Drawing:
        nodes = tuple(Box(f"n{n}", ("n",), "white") for n in range(start, start + 150))
        edges = tuple(
            Arrow(f"n{start + n % 150}", f"n{start + (n * 7 + n // 150) % 150}") for n in range(400)
        )
        return Drawing("", nodes, edges)

    drawings = numbered(0), numbered(100)
    whole = union(drawings)
    assert (len(whole.nodes), len(whole.edges) <= 600) == (200, True)


def test_one_drawing_is_its_own_union() -> None:
    whole = union((AFTER,))
    assert (whole.nodes, whole.edges, whole.groups) == (AFTER.nodes, AFTER.edges, AFTER.groups)


def test_arrows_and_frames_without_boxes_go() -> None:
    nodes = tuple(Box(name, (name,), "white") for name in "abc")
    groups = (
        Group("out", "", "scope", ()),
        Group("in", "", "scope", ("a",), "out"),
        Group("gone", "", "scope", ("b", "c")),
    )
    kept = only(Drawing("", nodes, (Arrow("a", "b"), Arrow("b", "c")), groups), {"a"})
    assert [node.id for node in kept.nodes] == ["a"]
    assert kept.edges == ()
    assert [group.id for group in kept.groups] == ["out", "in"]
