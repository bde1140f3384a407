"""Reshapes and converts that a pass moved past several instructions in a row."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: f32[8], b: f32[8,1]) -> f32[8,4] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8,1]{1,0} parameter(1)
  %early = f32[8,1]{1,0} reshape(%a)
  %product = f32[8,1]{1,0} multiply(%early, %b), metadata={op_name="m"}
  %root = f32[8,1]{1,0} sqrt(%product), metadata={op_name="s"}
  %sum = f32[8,1]{1,0} add(%root, %root), metadata={op_name="a"}
  ROOT %out = f32[8,4]{1,0} dot(%sum, %sum), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
"""
_AFTER = """
ENTRY %main (a: f32[8], b: f32[8,1]) -> f32[8,4] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8,1]{1,0} parameter(1)
  %flat = f32[8]{0} reshape(%b)
  %product.1 = f32[8]{0} multiply(%a, %flat), metadata={op_name="m"}
  %root.1 = f32[8]{0} sqrt(%product.1), metadata={op_name="s"}
  %sum.1 = f32[8]{0} add(%root.1, %root.1), metadata={op_name="a"}
  %late = f32[8,1]{1,0} reshape(%sum.1)
  ROOT %out = f32[8,4]{1,0} dot(%late, %late), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
"""


def test_a_reshape_is_behind_the_last_of_several_now(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_AFTER)).pairing_before(Place("main", "early"))
    assert pairing is not None
    assert (pairing.relation, pairing.after) == (Relation.SWAPPED, (Place("main", "late"),))
    assert pairing.reason == Past("product")


def test_a_reshape_to_other_dimensions_is_another_one(read: Read) -> None:
    after = _AFTER.replace("f32[8,1]{1,0} reshape(%sum.1)", "f32[8,1,1]{2,1,0} reshape(%sum.1)")
    pairing = match(read(_BEFORE), read(after)).pairing_before(Place("main", "early"))
    assert pairing is None or pairing.after == ()


_EARLY = """
ENTRY %main (a: bf16[8,4], s: f32[3,32], i: s32[]) -> f32[3,32] {
  %a = bf16[8,4]{1,0} parameter(0)
  %s = f32[3,32]{1,0} parameter(1)
  %i = s32[] parameter(2)
  %zero = s32[] constant(0)
  %sine = bf16[8,4]{1,0} sine(%a)
  %early = f32[8,4]{1,0} convert(%sine), metadata={op_name="c"}
  %turned = f32[4,8]{1,0} transpose(%early), dimensions={1,0}, metadata={op_name="t"}
  %flat = f32[1,32]{1,0} reshape(%turned), metadata={op_name="r"}
  ROOT %out = f32[3,32]{1,0} dynamic-update-slice(%s, %flat, %i, %zero)
}
"""
_LATE = """
ENTRY %main (a: bf16[8,4], s: f32[3,32], i: s32[]) -> f32[3,32] {
  %a = bf16[8,4]{1,0} parameter(0)
  %s = f32[3,32]{1,0} parameter(1)
  %i = s32[] parameter(2)
  %zero = s32[] constant(0)
  %sine = bf16[8,4]{1,0} sine(%a)
  %turned.1 = bf16[4,8]{1,0} transpose(%sine), dimensions={1,0}, metadata={op_name="t"}
  %flat.1 = bf16[1,32]{1,0} reshape(%turned.1), metadata={op_name="r"}
  %late = f32[1,32]{1,0} convert(%flat.1)
  ROOT %out = f32[3,32]{1,0} dynamic-update-slice(%s, %late, %i, %zero)
}
"""


def test_a_convert_is_past_several_moves_now(read: Read) -> None:
    pairing = match(read(_EARLY), read(_LATE)).pairing_before(Place("main", "early"))
    assert pairing is not None
    assert (pairing.relation, pairing.after) == (Relation.SWAPPED, (Place("main", "late"),))
    assert pairing.reason == Past("turned")


def test_a_convert_of_another_value_has_passed_no_moves(read: Read) -> None:
    after = _LATE.replace("transpose(%sine)", "transpose(%a)")
    pairing = match(read(_EARLY), read(after)).pairing_before(Place("main", "early"))
    assert pairing is None or pairing.after == ()
