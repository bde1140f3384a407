"""Selections of the largest elements that were divided among devices."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_ORDER = """
%greater (a: f32[], b: f32[], i: s32[], j: s32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  %i = s32[] parameter(2)
  %j = s32[] parameter(3)
  ROOT %gt = pred[] compare(%a, %b), direction=GT
}
"""
_WHOLE = """
ENTRY %main (x: f32[4,64]) -> (f32[4,2], s32[4,2]) {
  %x = f32[4,64]{1,0} parameter(0)
  %sine = f32[4,64]{1,0} sine(%x), metadata={op_name="sin"}
  %top = (f32[4,2]{1,0}, s32[4,2]{1,0}) SELECT(%sine)TARGET, metadata={op_name="top_k"}
  %values = f32[4,2]{1,0} get-tuple-element(%top), index=0
  %places = s32[4,2]{1,0} get-tuple-element(%top), index=1
  %twice = f32[4,2]{1,0} add(%values, %values)
  ROOT %out = (f32[4,2]{1,0}, s32[4,2]{1,0}) tuple(%twice, %places)
}
"""
_DIVIDED = """
ENTRY %main_spmd (x: f32[4,16]) -> (f32[4,2], s32[4,2]) {
  %x.1 = f32[4,16]{1,0} parameter(0)
  %sine.1 = f32[4,16]{1,0} sine(%x.1), metadata={op_name="sin"}
  %top.1 = (f32[4,2]{1,0}, s32[4,2]{1,0}) SELECT(%sine.1)TARGET, metadata={op_name="top_k"}
  %largest = f32[4,2]{1,0} get-tuple-element(%top.1), index=0
  %gather = f32[4,8]{1,0} all-gather(%largest), dimensions={1}, metadata={op_name="top_k"}
  %here = s32[4,2]{1,0} get-tuple-element(%top.1), index=1
  %start = s32[] constant(16)
  %starts = s32[4,2]{1,0} broadcast(%start), dimensions={}
  %place = s32[4,2]{1,0} add(%here, %starts)
  %gather.1 = s32[4,8]{1,0} all-gather(%place), dimensions={1}, metadata={op_name="top_k"}
  %sort = (f32[4,8]{1,0}, s32[4,8]{1,0}) sort(%gather, %gather.1), dimensions={1}, to_apply=%greater
  %sorted = f32[4,8]{1,0} get-tuple-element(%sort), index=0
  %values.1 = f32[4,2]{1,0} slice(%sorted), slice={[0:4], [0:2]}
  %indices = s32[4,8]{1,0} get-tuple-element(%sort), index=1
  %places.1 = s32[4,2]{1,0} slice(%indices), slice={[0:4], [0:2]}
  %twice.1 = f32[4,2]{1,0} add(%values.1, %values.1)
  ROOT %out = (f32[4,2]{1,0}, s32[4,2]{1,0}) tuple(%twice.1, %places.1)
}
"""


def _of(text: str, select: str, target: str) -> str:
    return _ORDER + text.replace("SELECT", select).replace("TARGET", target)


@pytest.mark.parametrize(
    ("select", "target"),
    [("custom-call", ', custom_call_target="TopK"'), ("topk", ", k=2, largest=true")],
)
def test_a_divided_selection_is_split_into_that_of_each_part_and_a_sort(
    read: Read, select: str, target: str
) -> None:
    """What the SPMD partitioner makes of a TopK along a divided dimension."""
    before, after = (read(_of(text, select, target)) for text in (_WHOLE, _DIVIDED))
    matching = match(before, after)
    for name in ("gather", "gather.1", "sort"):
        pairing = matching.pairing_after(Place("main_spmd", name))
        assert pairing is not None
        assert pairing.relation is Relation.SPLIT
        assert pairing.before == (Place("main", "top"),)
    made = step(before, after)
    assert "`%top` in `main` was split into 4 instructions, including `%top.1`" in made.headline


def test_a_sort_of_what_another_call_gives_is_new(read: Read) -> None:
    other = ', custom_call_target="Other"'
    before, after = (read(_of(text, "custom-call", other)) for text in (_WHOLE, _DIVIDED))
    pairing = match(before, after).pairing_after(Place("main_spmd", "sort"))
    assert pairing is not None
    assert pairing.before == ()
