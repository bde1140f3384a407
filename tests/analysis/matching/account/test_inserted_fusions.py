"""New fusions of one operand between a value and its reader."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_PLAIN = """
ENTRY %main (a: f32[8,4], b: f32[4,2]) -> f32[8,2] {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[4,2]{1,0} parameter(1)
  %given = f32[4,2]{1,0} tanh(%b)
  ROOT %dot.1 = f32[8,2]{1,0} dot(%a, %given), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
_WRAPPED = """
%bitcast_fusion.1 (p: f32[4,2]) -> f32[4,2] {
  %p = f32[4,2]{1,0} parameter(0)
  ROOT %bitcast.1 = f32[4,2]{1,0} bitcast(%p)
}
""" + _PLAIN.replace("(%a, %given)", "(%a, %fusion.1)").replace(
    "  ROOT",
    "  %fusion.1 = f32[4,2]{1,0} fusion(%given), kind=kLoop, calls=%bitcast_fusion.1\n  ROOT",
)


def test_a_fusion_of_a_bitcast_names_what_it_stands_between(read: Read) -> None:
    pairing = match(read(_PLAIN), read(_WRAPPED)).pairing_after(Place("main", "fusion.1"))
    assert pairing is not None
    assert str(pairing.reason) == "inserted between %given and %dot.1"


def test_a_fusion_of_other_values_stands_between_nothing(read: Read) -> None:
    other = _WRAPPED.replace("fusion(%given)", "fusion(%b)")
    pairing = match(read(_PLAIN), read(other)).pairing_after(Place("main", "fusion.1"))
    assert pairing is None or "inserted" not in str(pairing.reason)


_PLAIN_LOOP = """
%body (s: (s32[], f32[8,4], f32[4,4])) -> (s32[], f32[8,4], f32[4,4]) {
  %s = (s32[], f32[8,4]{1,0}, f32[4,4]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[8,4]{1,0} get-tuple-element(%s), index=1
  %w = f32[4,4]{1,0} get-tuple-element(%s), index=2
  %dot.1 = f32[8,4]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %t = (s32[], f32[8,4]{1,0}, f32[4,4]{1,0}) tuple(%i, %dot.1, %w)
}

%condition (c: (s32[], f32[8,4], f32[4,4])) -> pred[] {
  %c = (s32[], f32[8,4]{1,0}, f32[4,4]{1,0}) parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  ROOT %less = pred[] compare(%j, %j), direction=LT
}

ENTRY %main (a: (s32[], f32[8,4], f32[4,4])) -> (s32[], f32[8,4], f32[4,4]) {
  %a = (s32[], f32[8,4]{1,0}, f32[4,4]{1,0}) parameter(0)
  ROOT %while.1 = (s32[], f32[8,4]{1,0}, f32[4,4]{1,0}) while(%a), condition=%condition, body=%body
}
"""
_WRAPPED_LOOP = """
%bitcast_fusion.1 (p: f32[4,4]) -> f32[4,4] {
  %p = f32[4,4]{1,0} parameter(0)
  ROOT %bitcast.1 = f32[4,4]{1,0} bitcast(%p)
}
""" + _PLAIN_LOOP.replace("dot(%x, %w)", "dot(%x, %fusion.1)").replace(
    "  %dot.1",
    "  %fusion.1 = f32[4,4]{1,0} fusion(%w), kind=kLoop, calls=%bitcast_fusion.1\n  %dot.1",
)


def test_a_fusion_of_a_bitcast_of_what_a_loop_carries(read: Read) -> None:
    pairing = match(read(_PLAIN_LOOP), read(_WRAPPED_LOOP)).pairing_after(Place("body", "fusion.1"))
    assert pairing is not None
    assert str(pairing.reason) == "inserted between %w and %dot.1"
