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
