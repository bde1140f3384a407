"""Fills that became memory only."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_LOOP = """
%body (b: (s32[], f32[4,8])) -> (s32[], f32[4,8]) {
  %b = (s32[], f32[4,8]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%b), index=0
  %x = f32[4,8]{1,0} get-tuple-element(%b), index=1
  %y = f32[4,8]{1,0} tanh(%x)
  ROOT %next = (s32[], f32[4,8]{1,0}) tuple(%i, %y)
}

%condition (c: (s32[], f32[4,8])) -> pred[] {
  %c = (s32[], f32[4,8]{1,0}) parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  ROOT %less = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: s32[]) -> f32[4,8] {
  %a = s32[] parameter(0)
  %zero = f32[] constant(0)
FILL
  %start = (s32[], f32[4,8]{1,0}) tuple(%a, %given)
  %while.1 = (s32[], f32[4,8]{1,0}) while(%start), condition=%condition, body=%body
  ROOT %out = f32[4,8]{1,0} get-tuple-element(%while.1), index=1
}
"""
_FILLED = _LOOP.replace("FILL", "  %given = f32[4,8]{1,0} broadcast(%zero), dimensions={}")
_BUFFER = _LOOP.replace(
    "FILL", '  %buffer = f32[4,8]{1,0} custom-call(), custom_call_target="AllocateBuffer"'
).replace("%given", "%buffer")


def test_a_fill_in_front_of_a_loop_becomes_memory_only(read: Read) -> None:
    filled, buffer = read(_FILLED), read(_BUFFER)
    pairing = match(filled, buffer).pairing_before(Place("main", "given"))
    assert pairing is not None
    assert pairing.after == (Place("main", "buffer"),)
    assert str(pairing.reason) == "memory only, which %start gets in its place"
    headline = step(filled, buffer, "`pass`").headline
    assert "replaced 1 broadcast with an `AllocateBuffer` custom-call" in headline


def test_a_buffer_of_another_shape_does_not_stand_for_a_fill(read: Read) -> None:
    other = read(_BUFFER.replace("%buffer = f32[4,8]{1,0}", "%buffer = f32[4]{0}"))
    pairing = match(read(_FILLED), other).pairing_before(Place("main", "given"))
    assert pairing is None or pairing.after == ()


def test_further_buffers_name_the_fill_that_all_are_of(read: Read) -> None:
    """Two elements of a loop start with one fill: each gets memory of its own."""
    shape = "(s32[], f32[4,8]{1,0}, f32[4,8]{1,0})"
    two = _LOOP.replace("(s32[], f32[4,8]{1,0})", shape).replace(
        "tuple(%i, %y)", "tuple(%i, %y, %x)"
    )
    fill = "  %given = f32[4,8]{1,0} broadcast(%zero), dimensions={}"
    room = 'f32[4,8]{1,0} custom-call(), custom_call_target="AllocateBuffer"'
    before = two.replace("FILL", fill).replace("(%a, %given)", "(%a, %given, %given)")
    after = two.replace("FILL", f"  %room.1 = {room}\n  %room.2 = {room}").replace(
        "(%a, %given)", "(%a, %room.1, %room.2)"
    )
    pairing = match(read(before), read(after)).pairing_after(Place("main", "room.2"))
    assert pairing is not None
    assert str(pairing.reason) == "memory only, which %start gets in place of %given"
