"""The legend lists what a drawing uses."""

from typing import get_args

import pytest

from xlareport.pictures import drawing as d
from xlareport.pictures.legend import legend, sign


def words(drawing: d.Drawing) -> list[str]:
    return [entry.name for entry in legend(drawing)]


def test_only_what_is_used_is_listed() -> None:
    nodes = (
        d.Box("a", ("a",), "dark-blue"),
        d.Box("b", ("b",), "gray", "added", mix=(("purple", 3),)),
    )
    found = words(d.Drawing("", nodes, (d.Arrow("a", "b", style="control"),)))
    assert found == ["added", "control", "dark-blue", "purple", "gray"]


def test_the_state_of_an_arrow_or_a_frame_counts() -> None:
    nodes = (d.Box("a", ("a",), "white"), d.Box("b", ("b",), "white"))
    arrow = d.Drawing("", nodes, (d.Arrow("a", "b", state="removed"),))
    frame = d.Drawing("", nodes, groups=(d.Group("g", "g", "scope", ("a",), state="added"),))
    assert words(arrow) == ["removed", "white"]
    assert words(frame) == ["added", "white"]


@pytest.mark.parametrize("family", get_args(d.Family))
def test_every_family_has_words(family: d.Family) -> None:
    node = d.Box("a", ("a",), family)
    [entry] = legend(d.Drawing("", (node,)))
    assert (entry.kind, entry.name) == ("families", family)
    assert entry.words


def test_signs_differ() -> None:
    signs = [sign(state) for state in get_args(d.State)]
    assert sorted(signs) == ["", "", "+", "~", "\N{MINUS SIGN}"]
