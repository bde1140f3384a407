"""What became of shardings, layouts and configs, counted."""

import pytest
from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.steps.attribute_phrases import laid_out, sharded
from xlareport.analysis.steps.details import ShapeChange
from xlareport.analysis.steps.groups import grouped
from xlareport.analysis.steps.kinds import Kind

_SET = "sharding: none → {replicated}"
_REMOVED = "sharding: {devices=[2]<=[2]} → none"
_CHANGED = "sharding: {replicated} → {devices=[2]<=[2]}"
_MARKED = 'frontend_attributes: {xla.sdy.sharding="x"} → none'


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([_SET], "set the sharding of 1 add"),
        ([_REMOVED, _REMOVED], "removed the sharding of 2 adds"),
        ([_CHANGED], "changed the sharding of 1 add"),
        ([_MARKED], "changed the sharding of 1 add"),
        ([_CHANGED, _SET, _SET], "set the sharding of 2 adds and changed that of 1 add"),
        (
            [_SET, _SET, _SET, _REMOVED, _REMOVED, _CHANGED],
            "set the sharding of 3 adds, removed that of 2 adds and changed that of 1 add",
        ),
    ],
)
def test_what_was_done_to_shardings(texts: list[str], words: str) -> None:
    changes = [
        replace(change(Kind.SHARDING, f"add.{number}"), details=(text,))
        for number, text in enumerate(texts)
    ]
    assert sharded(grouped(changes)) == words


def test_layouts_and_tiles_are_counted_apart() -> None:
    turned = replace(change(Kind.LAYOUT), details=(ShapeChange("{1,0}", "{0,1}"),))
    tiles = ShapeChange("{1,0}", "{1,0:T(8,128)}", is_tiling=True)
    tiled = replace(change(Kind.LAYOUT, "add.2"), details=(tiles,))
    words = "changed the layout of 1 add and the tiling of 1 add"
    assert laid_out(grouped([turned, tiled])) == words
