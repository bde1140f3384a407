"""The legend lists what a drawing uses."""

from typing import get_args

import pytest

from xlareport.pictures import drawing as d
from xlareport.pictures.legend import legend, sign
from xlareport.pictures.scales import scales
from xlareport.pictures.shade import Shade


def words(drawing: d.Drawing) -> list[str]:
    return [entry.name for section in legend(drawing) for entry in section.entries]


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
    [_, opcode] = legend(d.Drawing("", (node,)))
    assert opcode.mode == "opcode"
    assert [entry.name for entry in opcode.entries] == [family]


def test_a_mode_has_a_section_of_its_own() -> None:
    drawing = d.Drawing("", (d.Box("a", ("a",), "white", shade=Shade(cost=0.3)),))
    [*_, cost] = legend(drawing, scales(drawing))
    assert cost.mode == "cost"
    assert [(one.kind, one.name) for one in cost.entries] == [("heat", "4")]


def test_signs_differ() -> None:
    signs = [sign(state) for state in get_args(d.State)]
    assert sorted(signs) == ["", "", "+", "~", "\N{MINUS SIGN}"]
