"""Removed operations that gave an operand as it was say beside what they did."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: f32[4,8]) -> f32[8,4] {
  %a = f32[4,8]{1,0} parameter(0)
  %exp = f32[4,8]{1,0} exponential(%a)
  %number = f32[] constant(0)
  %wide = f32[8,4]{1,0} broadcast(%number), dimensions={}
  %turned = f32[4,8]{0,1} transpose(%wide), dimensions={1,0}
  %sum = f32[4,8]{1,0} add(%exp, %turned)
  %tanh = f32[4,8]{1,0} tanh(%sum)
  ROOT %out = f32[8,4]{0,1} transpose(%tanh), dimensions={1,0}
}
"""
_AFTER = """
ENTRY %main (a: f32[4,8]) -> f32[8,4] {
  %a = f32[4,8]{1,0} parameter(0)
  %exp = f32[4,8]{1,0} exponential(%a)
  %tanh = f32[4,8]{1,0} tanh(%exp)
  ROOT %out = f32[8,4]{0,1} transpose(%tanh), dimensions={1,0}
}
"""


def _reason(read: Read, before: str, name: str) -> str:
    pairing = match(read(before), read(_AFTER)).pairing_before(Place("main", name))
    assert pairing is not None
    return str(pairing.reason)


@pytest.mark.parametrize(
    ("number", "operation"), [("0", "add"), ("1", "multiply"), ("1", "divide"), ("-inf", "maximum")]
)
def test_an_operation_without_effect_says_beside_which_constant(
    read: Read, number: str, operation: str
) -> None:
    before = _BEFORE.replace("constant(0)", f"constant({number})").replace(
        " add(", f" {operation}("
    )
    assert _reason(read, before, "sum") == (
        f"it gives its operand %exp as it is: the other is {number}"
    )


def test_what_led_to_its_constant_says_what_it_gave(read: Read) -> None:
    words = "its user %sum was removed, and it gave %exp as it is"
    assert _reason(read, _BEFORE, "turned") == words
    words = "its user %turned was removed, and %sum gave %exp as it is"
    assert _reason(read, _BEFORE, "wide") == words


def test_a_sum_with_another_constant_gives_no_operand(read: Read) -> None:
    before = _BEFORE.replace("constant(0)", "constant(2)")
    assert "as it is" not in _reason(read, before, "sum")
    assert "as it is" not in _reason(read, before, "wide")


def test_a_sum_with_0_that_nothing_read_on_went_with_its_user(read: Read) -> None:
    before = _BEFORE.replace(
        "  %tanh = f32[4,8]{1,0} tanh(%sum)",
        "  %both = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%sum, %exp)\n"
        "  %same = f32[4,8]{1,0} get-tuple-element(%both), index=1\n"
        "  %tanh = f32[4,8]{1,0} tanh(%same)",
    )
    assert "as it is" not in _reason(read, before, "sum")
