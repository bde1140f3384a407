"""Operands of a concatenate that is a maximum of pads now."""

from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place

_HEAD = """HloModule m

ENTRY main {
  a = f32[SIZE,4] parameter(0)
  b = f32[SIZE,4] parameter(1)
"""
_BEFORE = (
    _HEAD.replace("SIZE", "8")
    + """  twice = f32[8,4] multiply(a, a)
  ab = f32[8,4] multiply(a, b)
  both = f32[8,8] concatenate(ab, twice), dimensions={1}
  ROOT out = f32[8,8] negate(both)
}
"""
)
_AFTER = (
    _HEAD.replace("SIZE", "4")
    + """  low = f32[] constant(-inf)
  m.1 = f32[4,4] multiply(a, b)
  m.2 = f32[4,4] multiply(a, a)
  right = f32[4,8] pad(m.2, low), padding=0_0x4_0
  left = f32[4,8] pad(m.1, low), padding=0_0x0_4
  most = f32[4,8] maximum(right, left)
  ROOT out = f32[4,8] negate(most)
}
"""
)


def test_what_is_padded_to_a_place_is_the_operand_that_was_there() -> None:
    before, after = parse_module(_BEFORE), parse_module(_AFTER)
    matching = match(before, after)
    assert matching.partner_after(Place("main", "ab")) == Place("main", "m.1")
    assert matching.partner_after(Place("main", "twice")) == Place("main", "m.2")


def test_of_two_concatenates_of_one_size_it_is_not_known_which_was_padded() -> None:
    text = _BEFORE.replace("negate(both)", "subtract(both, other)").replace(
        "  both =", "  other = f32[8,8] concatenate(b, a), dimensions={1}\n  both ="
    )
    pairing = match(parse_module(text), parse_module(_AFTER)).pairing_after(Place("main", "m.2"))
    assert pairing is None or "padded" not in str(pairing.reason)
