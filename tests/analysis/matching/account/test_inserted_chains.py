"""New instructions in a chain stand between a value and what read it before."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_PLAIN = """
ENTRY %main (a: f32[8], b: f32[8]) -> (pred[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %less = pred[8]{0} compare(%a, %b), direction=LT
  %chosen = f32[8]{0} select(%less, %a, %b)
  ROOT %out = (pred[8]{0}, f32[8]{0}) tuple(%less, %chosen)
}
"""
_PACKED = _PLAIN.replace(
    "  %chosen = f32[8]{0} select(%less,",
    """  %wide = u32[8]{0} convert(%less)
  %place = u32[8]{0} iota(), iota_dimension=0
  %moved = u32[8]{0} shift-left(%wide, %place)
  %narrow = pred[8]{0} convert(%moved)
  %chosen = f32[8]{0} select(%narrow,""",
)


def _reason(read: Read, after: str, name: str) -> str:
    pairing = match(read(_PLAIN), read(after)).pairing_after(Place("main", name))
    assert pairing is not None
    return str(pairing.reason)


def test_each_of_a_chain_stands_between_the_value_and_its_reader(read: Read) -> None:
    for name in ("wide", "moved", "narrow"):
        assert _reason(read, _PACKED, name) == "inserted between %less and %chosen"


def test_what_does_not_read_the_value_is_an_operand(read: Read) -> None:
    expected = "an operand of the new %moved, which leads to %chosen"
    assert _reason(read, _PACKED, "place") == expected


def test_a_chain_from_another_value_stands_between_nothing(read: Read) -> None:
    other = _PACKED.replace("convert(%less)", "convert(%a)")
    assert "inserted between" not in _reason(read, other, "wide")


_FUSED = """
%fused (p: f32[8], q: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %flat = f32[8]{0} tanh(%p)
  ROOT %sum = f32[8]{0} add(%flat, %q)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %e = f32[8]{0} exponential(%a)
  ROOT %f = f32[8]{0} fusion(%e, %b), kind=kLoop, calls=%fused
}
"""
_CLAMPED = (
    _FUSED.replace("tanh(%p)", "tanh(%s)")
    .replace("  %flat =", "  %s = f32[8]{0} sine(%p)\n  %flat =")
    .replace("  ROOT %f =", "  %n = f32[8]{0} negate(%e)\n  ROOT %f =")
    .replace("fusion(%e, %b)", "fusion(%n, %b)")
)


def test_a_chain_that_enters_a_fusion_names_the_parameter_there(read: Read) -> None:
    matching = match(read(_FUSED), read(_CLAMPED))
    pairing = matching.pairing_after(Place("fused", "s"))
    assert pairing is not None
    assert str(pairing.reason) == "inserted between %p and %flat"
