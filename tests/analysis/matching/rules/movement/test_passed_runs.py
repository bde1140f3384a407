"""Reshapes and converts that a pass moved past several instructions in a row."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.reasons import Past
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
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


_TWO_SLICES = """
ENTRY %main (a: f32[2,4], s: bf16[3,4], i: s32[]) -> (bf16[3,4], bf16[3,4]) {
  %a = f32[2,4]{1,0} parameter(0)
  %s = bf16[3,4]{1,0} parameter(1)
  %i = s32[] parameter(2)
  %sine = f32[2,4]{1,0} sine(%a)
  %flat = f32[8]{0} reshape(%sine)
  %second = f32[4]{0} slice(%flat), slice={[4:8]}, metadata={op_name="cut"}
  %narrow.2 = bf16[4]{0} convert(%second), metadata={op_name="narrow"}
  %row.2 = bf16[1,4]{1,0} reshape(%narrow.2), metadata={op_name="second"}
  %first = f32[1,4]{1,0} slice(%sine), slice={[0:1], [0:4]}
  %narrow.1 = bf16[1,4]{1,0} convert(%first)
  %out.1 = bf16[3,4]{1,0} dynamic-update-slice(%s, %narrow.1, %i, %i)
  %out.2 = bf16[3,4]{1,0} dynamic-update-slice(%s, %row.2, %i, %i)
  ROOT %out = (bf16[3,4]{1,0}, bf16[3,4]{1,0}) tuple(%out.1, %out.2)
}
"""
_CONVERTED_BEFORE = """
ENTRY %main (a: f32[2,4], s: bf16[3,4], i: s32[]) -> (bf16[3,4], bf16[3,4]) {
  %a = f32[2,4]{1,0} parameter(0)
  %s = bf16[3,4]{1,0} parameter(1)
  %i = s32[] parameter(2)
  %sine = f32[2,4]{1,0} sine(%a)
  %convert.8 = bf16[2,4]{1,0} convert(%sine)
  %flat.9 = bf16[8]{0} reshape(%convert.8)
  %second.9 = bf16[4]{0} slice(%flat.9), slice={[4:8]}, metadata={op_name="cut"}
  %row.2 = bf16[1,4]{1,0} reshape(%second.9), metadata={op_name="second"}
  %convert.9 = bf16[2,4]{1,0} convert(%sine)
  %first.9 = bf16[1,4]{1,0} slice(%convert.9), slice={[0:1], [0:4]}
  %out.1 = bf16[3,4]{1,0} dynamic-update-slice(%s, %first.9, %i, %i)
  %out.2 = bf16[3,4]{1,0} dynamic-update-slice(%s, %row.2, %i, %i)
  ROOT %out = (bf16[3,4]{1,0}, bf16[3,4]{1,0}) tuple(%out.1, %out.2)
}
"""


def test_converts_past_one_move_and_past_two_are_told_apart(read: Read) -> None:
    before, after = read(_TWO_SLICES), read(_CONVERTED_BEFORE)
    matching = match(before, after)
    assert matching.partner_after(Place("main", "narrow.1")) == Place("main", "convert.9")
    assert matching.partner_after(Place("main", "narrow.2")) == Place("main", "convert.8")
    made = step(before, after, "`convert-mover`")
    words = " ".join((made.headline, *made.account))
    assert "moved 2 converts past other instructions" in words
    assert "`%narrow.2` in `main` was moved past `%second` (renamed to `%convert.8`)" in words
    assert "removed" not in words
    assert "cloned" not in words


_PADDED = """
ENTRY %main (a: bf16[4], b: f32[2,4]) -> f32[2,4] {
  %a = bf16[4]{0} parameter(0)
  %b = f32[2,4]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %sine = bf16[4]{0} sine(%a)
  %wide = f32[4]{0} convert(%sine)
  %row = f32[1,4]{1,0} reshape(%wide), metadata={op_name="row"}
  %pad.1 = f32[2,4]{1,0} pad(%row, %zero), padding=1_0x0_0, metadata={op_name="pad"}
  ROOT %out = f32[2,4]{1,0} add(%b, %pad.1)
}
"""
_CONVERTED_AFTER = """
ENTRY %main (a: bf16[4], b: f32[2,4]) -> f32[2,4] {
  %a = bf16[4]{0} parameter(0)
  %b = f32[2,4]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %sine = bf16[4]{0} sine(%a)
  %row.9 = bf16[1,4]{1,0} reshape(%sine), metadata={op_name="row"}
  %narrow = bf16[] convert(%zero)
  %pad.9 = bf16[2,4]{1,0} pad(%row.9, %narrow), padding=1_0x0_0, metadata={op_name="pad"}
  %wide.9 = f32[2,4]{1,0} convert(%pad.9)
  ROOT %out = f32[2,4]{1,0} add(%b, %wide.9)
}
"""


def test_a_convert_is_past_a_pad_now_and_its_readers_changed_nothing(read: Read) -> None:
    before, after = read(_PADDED), read(_CONVERTED_AFTER)
    pairing = match(before, after).pairing_before(Place("main", "wide"))
    assert pairing is not None
    assert (pairing.relation, pairing.after) == (Relation.SWAPPED, (Place("main", "wide.9"),))
    kinds = {c.kind for c in step(before, after).changes if c.after == Place("main", "out")}
    assert kinds == {Kind.REWIRED}


_CONVERTED = """
ENTRY %main (a: bf16[4,8], b: bf16[8,4]) -> (f32[8,4], f32[4,8]) {
  %a = bf16[4,8]{1,0} parameter(0)
  %b = bf16[8,4]{1,0} parameter(1)
  %cos = bf16[4,8]{1,0} cosine(%a)
  %pair = (bf16[8,4]{1,0}, s32[]) custom-call(%b), custom_call_target="split"
  %sin = bf16[8,4]{1,0} get-tuple-element(%pair), index=0
  %turned.a = bf16[8,4]{1,0} transpose(%cos), dimensions={1,0}, metadata={op_name="turn"}
  %turned.b = bf16[4,8]{1,0} transpose(%sin), dimensions={1,0}, metadata={op_name="turn"}
  %cast.6 = f32[8,4]{1,0} convert(%turned.a), metadata={op_name="cast"}
  %cast.8 = f32[4,8]{1,0} convert(%turned.b), metadata={op_name="cast"}
  %square.a = f32[8,4]{1,0} multiply(%cast.6, %cast.6), metadata={op_name="square"}
  %square.b = f32[4,8]{1,0} multiply(%cast.8, %cast.8), metadata={op_name="square"}
  ROOT %out = (f32[8,4]{1,0}, f32[4,8]{1,0}) tuple(%square.a, %square.b)
}
"""
_BETWEEN_TRANSPOSES = """
ENTRY %main (a: bf16[4,8], b: bf16[8,4]) -> (f32[8,4], f32[4,8]) {
  %a = bf16[4,8]{1,0} parameter(0)
  %b = bf16[8,4]{1,0} parameter(1)
  %cos = bf16[4,8]{1,0} cosine(%a)
  %pair = (bf16[8,4]{1,0}, s32[]) custom-call(%b), custom_call_target="split"
  %sin = bf16[8,4]{1,0} get-tuple-element(%pair), index=0
  %turned.a = bf16[8,4]{1,0} transpose(%cos), dimensions={1,0}, metadata={op_name="turn"}
  %turned.b = bf16[4,8]{1,0} transpose(%sin), dimensions={1,0}, metadata={op_name="turn"}
  %back.a = bf16[4,8]{1,0} transpose(%turned.a), dimensions={1,0}, metadata={op_name="turn"}
  %back.b = bf16[8,4]{1,0} transpose(%turned.b), dimensions={1,0}, metadata={op_name="turn"}
  %cast.1 = f32[4,8]{1,0} convert(%back.a), metadata={op_name="cast"}
  %cast.2 = f32[8,4]{1,0} convert(%back.b), metadata={op_name="cast"}
  %again.a = f32[8,4]{1,0} transpose(%cast.1), dimensions={1,0}, metadata={op_name="cast"}
  %again.b = f32[4,8]{1,0} transpose(%cast.2), dimensions={1,0}, metadata={op_name="cast"}
  %square.a = f32[8,4]{1,0} multiply(%again.a, %again.a), metadata={op_name="square"}
  %square.b = f32[4,8]{1,0} multiply(%again.b, %again.b), metadata={op_name="square"}
  ROOT %out = (f32[8,4]{1,0}, f32[4,8]{1,0}) tuple(%square.a, %square.b)
}
"""


def test_converts_between_transposes_are_not_told_apart_by_their_shapes(read: Read) -> None:
    matching = match(read(_CONVERTED), read(_BETWEEN_TRANSPOSES))
    after = [matching.pairing_before(Place("main", name)) for name in ("cast.6", "cast.8")]
    assert [pairing and pairing.after for pairing in after] == [
        (Place("main", "cast.1"),),
        (Place("main", "cast.2"),),
    ]


_BEFORE_PAD = """
ENTRY %main (a: bf16[8,4], s: f32[3,4,8]) -> f32[3,4,8] {
  %a = bf16[8,4]{1,0} parameter(0)
  %s = f32[3,4,8]{2,1,0} parameter(1)
  %zero = f32[] constant(0)
  %sine = bf16[8,4]{1,0} sine(%a)
  %early = f32[8,4]{1,0} convert(%sine), metadata={op_name="t"}
  %turned = f32[4,8]{1,0} transpose(%early), dimensions={1,0}, metadata={op_name="t"}
  %row = f32[1,4,8]{2,1,0} reshape(%turned), metadata={op_name="t"}
  %put = f32[3,4,8]{2,1,0} pad(%row, %zero), padding=2_0x0_0x0_0, metadata={op_name="t"}
  ROOT %out = f32[3,4,8]{2,1,0} add(%put, %s)
}
"""
_BEHIND_PAD = """
ENTRY %main (a: bf16[8,4], s: f32[3,4,8]) -> f32[3,4,8] {
  %a = bf16[8,4]{1,0} parameter(0)
  %s = f32[3,4,8]{2,1,0} parameter(1)
  %zero = f32[] constant(0)
  %sine = bf16[8,4]{1,0} sine(%a)
  %transpose.1 = bf16[4,8]{1,0} transpose(%sine), dimensions={1,0}, metadata={op_name="t"}
  %reshape.1 = bf16[1,4,8]{2,1,0} reshape(%transpose.1), metadata={op_name="t"}
  %none = bf16[] convert(%zero)
  %pad.1 = bf16[3,4,8]{2,1,0} pad(%reshape.1, %none), padding=2_0x0_0x0_0, metadata={op_name="t"}
  %late = f32[3,4,8]{2,1,0} convert(%pad.1)
  ROOT %out = f32[3,4,8]{2,1,0} add(%late, %s)
}
"""


def test_a_convert_is_past_a_transpose_and_a_pad_now(read: Read) -> None:
    """What the convert mover does."""
    matching = match(read(_BEFORE_PAD), read(_BEHIND_PAD))
    pairing = matching.pairing_before(Place("main", "early"))
    assert pairing is not None
    assert (pairing.relation, pairing.after) == (Relation.SWAPPED, (Place("main", "late"),))
    assert pairing.reason == Past("turned")
    for move, now in (("turned", "transpose.1"), ("row", "reshape.1"), ("put", "pad.1")):
        assert matching.partner_after(Place("main", move)) == Place("main", now)


def test_a_convert_behind_another_pad_has_passed_none(read: Read) -> None:
    after = _BEHIND_PAD.replace("reshape(%transpose.1)", "reshape(%a)")
    pairing = match(read(_BEFORE_PAD), read(after)).pairing_before(Place("main", "early"))
    assert pairing is None or pairing.relation is not Relation.SWAPPED
