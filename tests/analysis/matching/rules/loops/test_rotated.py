"""Loops that a pass rotated: the work for the next iteration is done in this one."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_COMMON = """
HloModule m

%most (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %maximum.9 = f32[] maximum(%l, %r)
}

%going (q: (s32[], f32[8], f32[4]MORE)) -> pred[] {
  %q = (s32[], f32[8]{0}, f32[4]{0}MORE) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  %four = s32[] constant(4)
  ROOT %ends = pred[] compare(%k, %four), direction=LT
}
"""
_BODY = """
%body (p: (s32[], f32[8], f32[4]MORE)) -> (s32[], f32[8], f32[4]MORE) {
  %p = (s32[], f32[8]{0}, f32[4]{0}MORE) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %all = f32[4]{0} get-tuple-element(%p), index=2
  %one = s32[] constant(1)
  %add.1 = s32[] add(%n, %one)
  %tanh.1 = f32[8]{0} tanh(%x)
"""
_ENTRY = """
ENTRY %main (a: f32[8], b: f32[4]) -> f32[4] {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %zero = s32[] constant(0)
"""
_BEFORE = (
    _COMMON
    + _BODY
    + """  %low = f32[] constant(-inf)
  %reduce.1 = f32[] reduce(%x, %low), dimensions={0}, to_apply=%most
  %reshape.1 = f32[1]{0} reshape(%reduce.1)
  %write = f32[4]{0} dynamic-update-slice(%all, %reshape.1, %n)
  ROOT %out.1 = (s32[], f32[8]{0}, f32[4]{0}) tuple(%add.1, %tanh.1, %write)
}
"""
    + _ENTRY
    + """  %in.1 = (s32[], f32[8]{0}, f32[4]{0}) tuple(%zero, %a, %b)
  %while.1 = (s32[], f32[8]{0}, f32[4]{0}) while(%in.1), condition=%going, body=%body
  ROOT %get.1 = f32[4]{0} get-tuple-element(%while.1), index=2
}
"""
).replace("MORE", "")
_AFTER = (
    _COMMON
    + _BODY
    + """  %given = f32[] get-tuple-element(%p), index=3
  %reshape.1 = f32[1]{0} reshape(%given)
  %write = f32[4]{0} dynamic-update-slice(%all, %reshape.1, %n)
  %low.2 = f32[] constant(-inf)
  %reduce.2 = f32[] reduce(NEXT, %low.2), dimensions={0}, to_apply=%most
  ROOT %out.1 = (s32[], f32[8]{0}, f32[4]{0}MORE) tuple(%add.1, %tanh.1, %write, GIVEN)
}
"""
    + _ENTRY
    + """  %low.3 = f32[] constant(-inf)
  %reduce.3 = f32[] reduce(%a, %low.3), dimensions={0}, to_apply=%most
  %in.2 = (s32[], f32[8]{0}, f32[4]{0}MORE) tuple(%zero, %a, %b, %reduce.3)
  %while.2 = (s32[], f32[8]{0}, f32[4]{0}MORE) while(%in.2), condition=%going, body=%body
  ROOT %get.1 = f32[4]{0} get-tuple-element(%while.2), index=2
}
"""
).replace("MORE", ", f32[]")
_ROTATED = _AFTER.replace("NEXT", "%tanh.1").replace("GIVEN", "%reduce.2")


def test_work_for_the_next_iteration_did_not_move_out_of_its_loop(read: Read) -> None:
    matching = match(read(_BEFORE), read(_ROTATED))
    for old, new, first in (("reduce.1", "reduce.2", "reduce.3"), ("low", "low.2", "low.3")):
        assert matching.partner_after(Place("body", old)) == Place("body", new)
        assert matching.partner_before(Place("main", first)) == Place("body", old)


def test_a_rotation_is_told(read: Read) -> None:
    text = "\n".join(step(read(_BEFORE), read(_ROTATED), "pass").account)
    assert "otated `%while.1` and cloned 1 reduce and 1 constant" in text
    assert "moved out" not in text


def test_what_the_body_computes_in_another_way_did_not_move_out(read: Read) -> None:
    other = _AFTER.replace("NEXT", "%tanh.1").replace("GIVEN", "%half")
    other = other.replace("  ROOT %out.1", "  %half = f32[] negate(%reduce.2)\n  ROOT %out.1")
    matching = match(read(_BEFORE), read(other))
    assert matching.partner_after(Place("body", "reduce.1")) != Place("main", "reduce.3")
