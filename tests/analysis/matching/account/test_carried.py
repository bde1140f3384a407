"""What a loop carries instead of a value, or no longer."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_MORE = """
HloModule m

%body (c: (s32[], s32[], f32[8,8])) -> (s32[], s32[], f32[8,8]) {
  %c = (s32[], s32[], f32[8,8]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %j = s32[] get-tuple-element(%c), index=1
  %x = f32[8,8]{1,0} get-tuple-element(%c), index=2
  %one = s32[] constant(1)
  %i.1 = s32[] add(%i, %one)
  %j.1 = s32[] reshape(%j)
  %tanh.1 = f32[8,8]{1,0} tanh(%x)
  %reshape.1 = f32[8,8]{1,0} reshape(%tanh.1)
  ROOT %t = (s32[], s32[], f32[8,8]{1,0}) tuple(%i.1, %j.1, %reshape.1)
}

%cond (d: (s32[], s32[], f32[8,8])) -> pred[] {
  %d = (s32[], s32[], f32[8,8]{1,0}) parameter(0)
  %n = s32[] get-tuple-element(%d), index=0
  %five = s32[] constant(5)
  ROOT %lt = pred[] compare(%n, %five), direction=LT
}

ENTRY %main (a: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %reshape.2 = f32[8,8]{1,0} reshape(%a)
  %zero = s32[] constant(0)
  %most = s32[] constant(-1)
  %s = (s32[], s32[], f32[8,8]{1,0}) tuple(%zero, %most, %reshape.2)
  %w = (s32[], s32[], f32[8,8]{1,0}) while(%s), condition=%cond, body=%body
  ROOT %o = f32[8,8]{1,0} get-tuple-element(%w), index=2
}
"""
_LESS = """
HloModule m

%body (c: (s32[], f32[8,8])) -> (s32[], f32[8,8]) {
  %c = (s32[], f32[8,8]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %x = f32[8,8]{1,0} get-tuple-element(%c), index=1
  %one = s32[] constant(1)
  %i.1 = s32[] add(%i, %one)
  %tanh.1 = f32[8,8]{1,0} tanh(%x)
  ROOT %t = (s32[], f32[8,8]{1,0}) tuple(%i.1, %tanh.1)
}

%cond (d: (s32[], f32[8,8])) -> pred[] {
  %d = (s32[], f32[8,8]{1,0}) parameter(0)
  %n = s32[] get-tuple-element(%d), index=0
  %five = s32[] constant(5)
  ROOT %lt = pred[] compare(%n, %five), direction=LT
}

ENTRY %main (a: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %zero = s32[] constant(0)
  %copy.1 = f32[8,8]{1,0} copy(%a)
  %s = (s32[], f32[8,8]{1,0}) tuple(%zero, %copy.1)
  %w = (s32[], f32[8,8]{1,0}) while(%s), condition=%cond, body=%body
  ROOT %o = f32[8,8]{1,0} get-tuple-element(%w), index=1
}
"""


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (Place("body", "reshape.1"), "%t uses %tanh.1 instead"),
        (Place("main", "reshape.2"), "%s uses %copy.1 instead"),
        (Place("body", "j.1"), "%w no longer carries it"),
        (Place("main", "most"), "%w no longer carries it"),
    ],
)
def test_a_loop_that_carries_fewer_values_still_carries_what_a_move_passed_on(
    read: Read, place: Place, reason: str
) -> None:
    pairing = match(read(_MORE), read(_LESS)).pairing_before(place)
    assert pairing is not None
    assert str(pairing.reason) == reason


def test_a_loop_that_lost_a_value_of_another_type_carries_the_others(read: Read) -> None:
    less = read(_LESS.replace("tanh(%x)", "sine(%x)").replace("%tanh.1", "%sine.1"))
    pairing = match(read(_MORE), less).pairing_before(Place("body", "reshape.1"))
    assert pairing is not None
    assert "no longer carries" not in str(pairing.reason)
