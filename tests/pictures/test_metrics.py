"""Text is as wide as its cells, whatever the script."""

import pytest

from xlareport.pictures import metrics
from xlareport.pictures.drawing import Box


@pytest.mark.parametrize(
    ("text", "columns"),
    [("dot.5", 5), ("", 0), ("日本", 4), ("e\N{COMBINING ACUTE ACCENT}", 1), ("naïve", 5)],
)
def test_columns(text: str, columns: int) -> None:
    assert metrics.text_columns(text) == columns


def test_a_short_text_stays() -> None:
    assert metrics.shorten("broadcast.5", 11) == "broadcast.5"


def test_a_long_text_keeps_its_beginning_and_its_number() -> None:
    name = "transpose_jvp_jit_take_along_axis_fusion.clone.clone.17"
    cut = metrics.shorten(name, 24)
    assert metrics.text_columns(cut) == 24
    assert cut == "transpose_jvp_ji…lone.17"


def test_wide_characters_are_cut_by_cells() -> None:
    assert metrics.text_columns(metrics.shorten("日" * 50, 21)) <= 21


def test_a_box_grows_with_its_text() -> None:
    small = metrics.node_size(Box("a", ("dot.5", "f32[2]"), "white"))
    wide = metrics.node_size(Box("a", ("dot.5", "f32[2,3,4,5]"), "white"))
    tall = metrics.node_size(Box("a", ("dot.5", "dot", "f32[2]"), "white"))
    assert wide[0] - small[0] == pytest.approx(6 * metrics.CHARACTER_WIDTH, abs=0.1)
    assert tall[1] - small[1] == pytest.approx(metrics.LINE_HEIGHT)


def test_a_stack_and_a_bar_need_room() -> None:
    plain = metrics.node_size(Box("a", ("x",), "gray"))
    stack = metrics.node_size(Box("a", ("x",), "gray", shape="stack"))
    bar = metrics.node_size(Box("a", ("x",), "gray", mix=(("white", 3),)))
    assert stack == (plain[0] + metrics.STACK_OFFSET, plain[1] + metrics.STACK_OFFSET)
    assert bar == (plain[0], plain[1] + metrics.BAR_HEIGHT + 2)
