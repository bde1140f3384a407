"""A drawing refuses what could not be laid out or contradicts itself."""

import pytest

from xlareport.pictures.drawing import Arrow, Box, Drawing, DrawingError, Group


def boxes(count: int) -> tuple[Box, ...]:
    return tuple(Box(f"n{number}", (f"box {number}",), "white") for number in range(count))


def arrows(count: int) -> tuple[Arrow, ...]:
    return tuple(Arrow(f"n{number // 30}", f"n{number % 30}") for number in range(count))


def test_the_limits_are_200_boxes_and_600_arrows() -> None:
    assert len(Drawing("all", boxes(200), arrows(600)).edges) == 600
    with pytest.raises(DrawingError, match="201 boxes"):
        Drawing("too many", boxes(201))
    with pytest.raises(DrawingError, match="601 arrows"):
        Drawing("too many", boxes(40), arrows(601))


def test_every_id_is_unique() -> None:
    with pytest.raises(DrawingError, match="'n0' is given twice"):
        Drawing("twice", boxes(1) + boxes(1))
    with pytest.raises(DrawingError, match="given twice"):
        Drawing("twice", boxes(2), (Arrow("n0", "n1"), Arrow("n0", "n1")))


def test_arrows_and_frames_name_boxes_that_are_there() -> None:
    with pytest.raises(DrawingError, match="unknown boxes: \\['n7'\\]"):
        Drawing("unknown", boxes(2), (Arrow("n0", "n7"),))
    with pytest.raises(DrawingError, match="unknown boxes: \\['n8'\\]"):
        Drawing("unknown", boxes(2), groups=(Group("g", "g", "scope", ("n8",)),))


def test_a_box_stands_in_one_frame() -> None:
    frames = (Group("a", "a", "scope", ("n0",)), Group("b", "b", "scope", ("n0",)))
    with pytest.raises(DrawingError, match="'n0' is given twice"):
        Drawing("two frames", boxes(1), groups=frames)


def test_a_frame_stands_after_the_one_around_it() -> None:
    inner, outer = Group("in", "", "scope", ("n0",), "out"), Group("out", "", "scope", ())
    assert Drawing("nested", boxes(1), groups=(outer, inner)).groups == (outer, inner)
    with pytest.raises(DrawingError, match="'in' is given twice or before its parent"):
        Drawing("nested", boxes(1), groups=(inner, outer))
