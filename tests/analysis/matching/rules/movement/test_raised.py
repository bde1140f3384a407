"""Reshapes of a result that became those of what it is computed from."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_INSIDE = """
HloModule m

%fused (p: f32[4,8], q: f32[8]) -> f32[4] {
  %p = f32[4,8]{1,0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %wide = f32[4,8]{1,0} broadcast(%q), dimensions={1}
  %add = f32[4,8]{1,0} add(%p, %wide)
  %tanh = f32[4,8]{1,0} tanh(%add)
  %reshape.1 = f32[4,2,4]{2,1,0} reshape(%tanh)
  ROOT %dot = f32[4]{0} dot(%reshape.1, %reshape.1), lhs_batch_dims={0}, \
lhs_contracting_dims={1,2}, rhs_batch_dims={0}, rhs_contracting_dims={1,2}
}

ENTRY %main (a: f32[4,8], b: f32[8]) -> f32[4] {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[8]{0} parameter(1)
  ROOT %fusion = f32[4]{0} fusion(%a, %b), kind=kCustom, calls=%fused
}
"""
_OUTSIDE = """
HloModule m

%fused (p: f32[4,2,4], q: f32[2,4]) -> f32[4] {
  %p = f32[4,2,4]{2,1,0} parameter(0)
  %q = f32[2,4]{1,0} parameter(1)
  %wide = f32[4,2,4]{2,1,0} broadcast(%q), dimensions={1,2}
  %add = f32[4,2,4]{2,1,0} add(%p, %wide)
  %tanh = f32[4,2,4]{2,1,0} tanh(%add)
  ROOT %dot = f32[4]{0} dot(%tanh, %tanh), lhs_batch_dims={0}, \
lhs_contracting_dims={1,2}, rhs_batch_dims={0}, rhs_contracting_dims={1,2}
}

ENTRY %main (a: f32[4,8], b: f32[8]) -> f32[4] {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %bitcast.1 = f32[4,2,4]{2,1,0} bitcast(%a)
  %bitcast.2 = f32[2,4]{1,0} bitcast(%b)
  ROOT %fusion = f32[4]{0} fusion(%bitcast.1, %bitcast.2), kind=kCustom, calls=%fused
}
"""


def test_a_reshape_behind_a_row_of_operations_is_one_of_each_operand(read: Read) -> None:
    before, after = read(_INSIDE), read(_OUTSIDE)
    pairing = match(before, after).pairing_before(Place("fused", "reshape.1"))
    assert pairing is not None
    assert [place.instruction for place in pairing.after] == ["bitcast.1", "bitcast.2"]
    assert str(pairing.reason) == "past %tanh"
    change = step(before, after, "`hoist-fused-bitcasts`")
    account = " ".join((change.headline, *change.account))
    became = "`%reshape.1` in `fused` became `%bitcast.1` and moved out of `%fusion`"
    assert became in account
    assert "removed" not in account
    assert "added" not in account


def test_a_reshape_of_another_value_is_none_of_it(read: Read) -> None:
    other = _OUTSIDE.replace(
        "  %bitcast.1", "  %exp = f32[4,8]{1,0} exponential(%a)\n  %bitcast.1"
    ).replace("bitcast(%a)", "bitcast(%exp)")
    pairing = match(read(_INSIDE), read(other)).pairing_before(Place("fused", "reshape.1"))
    assert pairing is not None
    assert "bitcast.1" not in [place.instruction for place in pairing.after]
