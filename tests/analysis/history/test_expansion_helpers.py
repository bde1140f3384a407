"""Parts of expansions that are constants or indices by the device's number."""

import pytest
from tests.analysis.history.six_snapshots import Read

from xlareport.analysis.history.expansion_helpers import is_helper
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.knowledge.grades import Grade

_WHOLE = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %own = u32[] partition-id()
  ROOT %pad = f32[10]{0} pad(%a, %zero), padding=1_1
}
"""
_PARTS = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %table = s32[4]{0} constant({0, 2, 4, 6})
  %device = u32[] partition-id()
  %place = s32[1]{0} dynamic-slice(%table, %device), dynamic_slice_sizes={1}
  %index = s32[] reshape(%place)
  %work = f32[8]{0} negate(%a)
  ROOT %part = f32[2]{0} dynamic-slice(%work, %index), dynamic_slice_sizes={2}
}
"""


@pytest.mark.parametrize(
    ("name", "helps"),
    [("table", True), ("place", True), ("index", True), ("work", False), ("part", False)],
)
def test_an_index_by_the_number_of_the_device_is_a_helper(
    read: Read, name: str, *, helps: bool
) -> None:
    matching = match(read(_WHOLE), read(_PARTS))
    names = ("part", "table", "place", "index", "work")
    after = tuple(Place("main", part) for part in names)
    pairing = _expanded("pad", after)
    assert is_helper(matching, pairing, Place("main", name)) is helps


def test_what_an_index_was_expanded_into_is_its_work(read: Read) -> None:
    matching = match(read(_WHOLE), read(_PARTS))
    pairing = _expanded("own", (Place("main", "index"), Place("main", "place")))
    assert not is_helper(matching, pairing, Place("main", "place"))


def _expanded(name: str, after: tuple[Place, ...]) -> Pairing:
    before = (Place("main", name),)
    return Pairing(before, after, Grade.MATCHED, "into parts", Relation.EXPANDED)
