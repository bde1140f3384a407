"""Clamps to the bounds that their value was clamped to already."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_OF_CLAMPS = """
ENTRY %main (x: s32[8,1], lo: s32[], hi: s32[1], more: s32[]) -> (s32[8,1], s32[8,1], s32[8,1]) {
  %x = s32[8,1]{1,0} parameter(0)
  %lo = s32[] parameter(1)
  %hi = s32[1]{0} parameter(2)
  %more = s32[] parameter(3)
  %low = s32[8,1]{1,0} broadcast(%lo), dimensions={}
  %high = s32[8,1]{1,0} broadcast(%hi), dimensions={1}
  %higher = s32[8,1]{1,0} broadcast(%more), dimensions={}
  %clamp.1 = s32[8,1]{1,0} clamp(%low, %x, %high), metadata={op_name="gather"}
  %clamp.2 = s32[8,1]{1,0} clamp(%low, %clamp.1, %high), metadata={op_name="gather"}
  %clamp.3 = s32[8,1]{1,0} clamp(%low, %clamp.2, %high), metadata={op_name="gather"}
  %a = s32[8,1]{1,0} subtract(%clamp.1, %low)
  %b = s32[8,1]{1,0} add(%clamp.2, %higher)
  %c = s32[8,1]{1,0} multiply(%clamp.3, %low)
  ROOT %t = (s32[8,1]{1,0}, s32[8,1]{1,0}, s32[8,1]{1,0}) tuple(%a, %b, %c)
}
"""
_LINES = _OF_CLAMPS.splitlines(keepends=True)
_OF_ONE = (
    "".join(line for line in _LINES if "%clamp.1 =" not in line and "%clamp.2 =" not in line)
    .replace("clamp(%low, %clamp.2,", "clamp(%low, %x,")
    .replace("(%clamp.1,", "(%clamp.3,")
    .replace("(%clamp.2,", "(%clamp.3,")
    .replace("broadcast(%hi), dimensions={1}", "broadcast(%bound), dimensions={}")
    .replace("  %more", "  %bound = s32[] reshape(%hi)\n  %more")
)


def test_clamps_to_equal_bounds_are_merged_into_the_one_that_keeps_its_name(read: Read) -> None:
    matching = match(read(_OF_CLAMPS), read(_OF_ONE))
    for name in ("clamp.1", "clamp.2", "clamp.3"):
        pairing = matching.pairing_before(Place("main", name))
        assert pairing is not None
        assert pairing.relation is Relation.MERGED
        assert pairing.after == (Place("main", "clamp.3"),)
    made = step(read(_OF_CLAMPS), read(_OF_ONE), "`algsimp`")
    assert "merged duplicates of 2 clamps" in made.headline


@pytest.mark.parametrize("bounds", ["%higher, %clamp.1, %high", "%low, %clamp.1, %higher"])
def test_clamps_to_other_bounds_are_no_duplicates(read: Read, bounds: str) -> None:
    before = _OF_CLAMPS.replace("%low, %clamp.1, %high", bounds)
    pairing = match(read(before), read(_OF_ONE)).pairing_before(Place("main", "clamp.2"))
    assert pairing is not None
    assert pairing.relation is not Relation.MERGED
