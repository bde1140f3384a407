"""What the page script needs to draw as the report does."""

from typing import get_args

from xlareport.pages.pictures.look import picture_look
from xlareport.pictures import drawing as d


def test_every_colour_has_its_rule_and_its_words() -> None:
    look = picture_look()
    families = dict(look["families"])
    for family in get_args(d.Family):
        assert f".xg .n-{family}>.box" in look["css"]
        assert families[family]


def test_states_and_arrows_have_words() -> None:
    look = picture_look()
    assert {"added", "removed", "changed"} <= dict(look["states"]).keys()
    assert {"control", "call"} <= dict(look["edges"]).keys()
