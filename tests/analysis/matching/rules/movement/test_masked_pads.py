"""Slices that are padded to their former size, which a pass writes as a select by a mask."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import Masked, PaddedOnce
from xlareport.analysis.steps.step import step

_HEAD = """HloModule m

ENTRY main {
  x = f32[4,24] parameter(0)
  v = f32[] constant(0)
  y = f32[4,24] sine(x)
"""
_BEFORE = """  part = f32[4,16] slice(y), slice={[0:4], [LIMITS]}
  moved = f32[4,16] transpose(part), dimensions={0,1}
  whole = f32[4,24] pad(moved, v), padding=0_0xPADS
  ROOT out = f32[4,24] tanh(whole)
}
"""
_AFTER = """  number = s32[4,24] iota(), iota_dimension=1
  end = s32[] constant(16)
  ends = s32[4,24] broadcast(end), dimensions={}
  mask = pred[4,24] compare(number, ends), direction=LT
  fill = f32[4,24] broadcast(FILL), dimensions={}
  masked = f32[4,24] select(mask, OPERANDS)
  ROOT out = f32[4,24] tanh(masked)
}
"""


def _before(limits: str, pads: str) -> str:
    return _HEAD + _BEFORE.replace("LIMITS", limits).replace("PADS", pads)


def _after(fill: str = "v", operands: str = "y, fill") -> str:
    return _HEAD + _AFTER.replace("FILL", fill).replace("OPERANDS", operands)


@pytest.mark.parametrize(("limits", "pads"), [("0:16", "0_8"), ("8:24", "8_0"), ("4:20", "4_4")])
@pytest.mark.parametrize("operands", ["y, fill", "fill, y"])
def test_a_pad_of_what_was_sliced_became_a_select_by_a_mask(
    limits: str, pads: str, operands: str
) -> None:
    before, after = parse_module(_before(limits, pads)), parse_module(_after("v", operands))
    pairing = match(before, after).pairing_before(Place("main", "whole"))
    assert pairing is not None
    assert (pairing.after, pairing.reason) == ((Place("main", "masked"),), Masked("part"))
    change = step(before, after, "`algsimp`")
    told = " ".join((change.headline, *change.account))
    words = "became the select `%masked`, which masks what `%part` cut off"
    assert f"the pad `%whole` in `main` {words}" in told


@pytest.mark.parametrize(
    ("limits", "pads", "fill"),
    [("0:16", "8_0", "v"), ("0:16", "0_8_0", "one"), ("0:16", "4_4", "v")],
)
def test_a_pad_elsewhere_or_with_another_value_is_no_mask(
    limits: str, pads: str, fill: str
) -> None:
    after = _after(fill).replace("  fill =", "  one = f32[] constant(1)\n  fill =")
    pairing = match(parse_module(_before(limits, pads)), parse_module(after)).pairing_before(
        Place("main", "whole")
    )
    assert pairing is None or not isinstance(pairing.reason, Masked)


_TWICE = """HloModule m

ENTRY main {
  x = f32[4,8] parameter(0)
  u = f32[] constant(0)
  v = f32[] constant(-inf)
  inner = f32[4,9] pad(x, u), padding=0_0x1_0
  outer = f32[4,14] pad(inner, v), padding=0_0x0_5
  ROOT out = f32[4,14] tanh(outer)
}
"""
_ONCE = """HloModule m

ENTRY main {
  x = f32[4,8] parameter(0)
  u = f32[] constant(0)
  v = f32[] constant(-inf)
  number = s32[4,14] iota(), iota_dimension=1
  end = s32[] constant(9)
  ends = s32[4,14] broadcast(end), dimensions={}
  mask = pred[4,14] compare(number, ends), direction=LT
  one = f32[4,14] pad(x, u), padding=0_0x1_5
  fill = f32[4,14] broadcast(v), dimensions={}
  masked = f32[4,14] select(mask, one, fill)
  ROOT out = f32[4,14] tanh(masked)
}
"""


def test_a_pad_of_a_pad_became_a_select_of_one_pad() -> None:
    """`pad-slice-mover` on TPU: the values that are padded with differ."""
    before, after = parse_module(_TWICE), parse_module(_ONCE)
    pairing = match(before, after).pairing_before(Place("main", "outer"))
    assert pairing is not None
    assert (pairing.after, pairing.reason) == ((Place("main", "masked"),), PaddedOnce("one"))
    change = step(before, after, "`pad-slice-mover`")
    told = " ".join((change.headline, *change.account))
    assert "became the select `%masked`, which masks `%one`, a pad in the place of both" in told


def test_a_select_of_a_pad_of_something_else_is_none_of_these() -> None:
    before, after = parse_module(_TWICE), parse_module(_ONCE.replace("pad(x, u)", "pad(x, v)"))
    pairing = match(before, after).pairing_before(Place("main", "outer"))
    assert pairing is None or not isinstance(pairing.reason, PaddedOnce)
