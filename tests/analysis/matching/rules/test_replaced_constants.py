"""New constant values that took the place of others than those of their value."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_INSIDE = """
%body_N (p: (s32[], f32[N])) -> (s32[], f32[N]) {
  %p = (s32[], f32[N]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[N]{0} get-tuple-element(%p), index=1
  %constant.1..sunk.N = s32[] constant(-1)
  %constant.N = s32[] constant(N)
  %last.N = s32[] add(%constant.N, %constant.1..sunk.N)
  %at = s32[] subtract(%last.N, %i)
  %y = f32[N]{0} negate(%x)
  ROOT %t = (s32[], f32[N]{0}) tuple(%at, %y)
}
%condition_N (q: (s32[], f32[N])) -> pred[] {
  %q = (s32[], f32[N]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  ROOT %less = pred[] compare(%j, %j), direction=LT
}
"""
_OUTSIDE = """
%body_N.1 (p: (s32[], f32[N], s32[])) -> (s32[], f32[N], s32[]) {
  %p = (s32[], f32[N]{0}, s32[]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[N]{0} get-tuple-element(%p), index=1
  %in = s32[] get-tuple-element(%p), index=2
  %at = s32[] subtract(%in, %i)
  %y = f32[N]{0} negate(%x)
  ROOT %t = (s32[], f32[N]{0}, s32[]) tuple(%at, %y, %in)
}
%condition_N.1 (q: (s32[], f32[N], s32[])) -> pred[] {
  %q = (s32[], f32[N]{0}, s32[]) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  ROOT %less = pred[] compare(%j, %j), direction=LT
}
"""
_MAIN = """
ENTRY %main (a: s32[], b: f32[3], c: f32[4]) -> (f32[3], f32[4]) {
  %a = s32[] parameter(0)
  %b = f32[3]{0} parameter(1)
  %c = f32[4]{0} parameter(2)
"""
_BEFORE = f"""{_MAIN}
  %start.3 = (s32[], f32[3]{{0}}) tuple(%a, %b)
  %while.3 = (s32[], f32[3]{{0}}) while(%start.3), condition=%condition_3, body=%body_3
  %start.4 = (s32[], f32[4]{{0}}) tuple(%a, %c)
  %while.4 = (s32[], f32[4]{{0}}) while(%start.4), condition=%condition_4, body=%body_4
  %y.3 = f32[3]{{0}} get-tuple-element(%while.3), index=1
  %y.4 = f32[4]{{0}} get-tuple-element(%while.4), index=1
  %constant.1 = s32[] constant(-1)
  %wide = (f32[4]{{0}}, s32[]) tuple(%y.4, %constant.1)
  %kept = f32[4]{{0}} get-tuple-element(%wide), index=0
  ROOT %r = (f32[3]{{0}}, f32[4]{{0}}) tuple(%y.3, %kept)
}}
"""
_AFTER = f"""{_MAIN}
  %constant.8 = s32[] constant(3)
  %constant.1..sunk.5 = s32[] constant(-1)
  %last.5 = s32[] add(%constant.8, %constant.1..sunk.5)
  %start.5 = (s32[], f32[3]{{0}}, s32[]) tuple(%a, %b, %last.5)
  %while.5 = (s32[], f32[3]{{0}}, s32[]) while(%start.5), condition=%condition_3.1, body=%body_3.1
  %constant.9 = s32[] constant(4)
  %constant.1..sunk.6 = s32[] constant(-1)
  %last.6 = s32[] add(%constant.9, %constant.1..sunk.6)
  %start.6 = (s32[], f32[4]{{0}}, s32[]) tuple(%a, %c, %last.6)
  %while.6 = (s32[], f32[4]{{0}}, s32[]) while(%start.6), condition=%condition_4.1, body=%body_4.1
  %y.3 = f32[3]{{0}} get-tuple-element(%while.5), index=1
  %kept = f32[4]{{0}} get-tuple-element(%while.6), index=1
  ROOT %r = (f32[3]{{0}}, f32[4]{{0}}) tuple(%y.3, %kept)
}}
"""


def _with_loops(text: str, loop: str) -> str:
    return loop.replace("N", "3") + loop.replace("N", "4") + text


def test_a_literal_taken_out_of_a_loop_is_no_equal_one_that_is_gone(read: Read) -> None:
    before, after = _with_loops(_BEFORE, _INSIDE), _with_loops(_AFTER, _OUTSIDE)
    matching = match(read(before), read(after))
    for old, new in (3, 5), (4, 6):
        out = Place("main", f"constant.1..sunk.{new}")
        assert matching.partner_after(Place(f"body_{old}", f"constant.1..sunk.{old}")) == out
    assert matching.partner_after(Place("main", "constant.1")) is None
