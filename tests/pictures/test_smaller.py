"""A part of a drawing holds nothing that points out of it."""

from xlareport.pictures.drawing import Arrow, Box, Drawing, Group
from xlareport.pictures.smaller import only


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
