"""Reshapes of a result that became those of what it is computed from."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
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


def test_a_reshape_of_what_is_made_of_an_iota_was_moved_and_has_no_other_type(read: Read) -> None:
    """What `tpu-broadcast-rewriter` does to rotary frequencies."""
    lines = """
ENTRY %main (a: f32[8,16]) -> f32[8,16] {
  %a = f32[8,16]{1,0} parameter(0)
  %base = f32[] constant(10000)
  %two = s32[] constant(2)
  %step = f32[] constant(-0.03)
  %iota = s32[1,1,16]{2,1,0} iota(), iota_dimension=2
LOWERED
  %twos.N = s32[SIZES] broadcast(%two), dimensions={}
  %twice.N = s32[SIZES] multiply(READ, %twos.N)
  %float.N = f32[SIZES] convert(%twice.N)
  %steps.N = f32[SIZES] broadcast(%step), dimensions={}
  %exponent.N = f32[SIZES] multiply(%float.N, %steps.N)
  %bases.N = f32[SIZES] broadcast(%base), dimensions={}
  %power.N = f32[SIZES] power(%bases.N, %exponent.N)
RAISED
  %wide.N = f32[8,16]{1,0} broadcast(GIVEN), dimensions={1}
  ROOT %out = f32[8,16]{1,0} multiply(%a, %wide.N)
}
"""
    before = lines.replace("SIZES", "1,1,16").replace(".N", ".1").replace("READ", "%iota")
    before = before.replace("RAISED", "  %reshape.1 = f32[16]{0} reshape(%power.1)")
    before = before.replace("GIVEN", "%reshape.1").replace("LOWERED", "")
    after = lines.replace("SIZES", "16").replace(".N", ".2").replace("READ", "%reshape.2")
    after = after.replace("LOWERED", "  %reshape.2 = s32[16]{0} reshape(%iota)")
    after = after.replace("GIVEN", "%power.2").replace("RAISED", "")
    change = step(read(before), read(after), "`tpu-broadcast-rewriter`")
    kinds = {row.before.instruction: row.kind for row in change.changes if row.before}
    assert kinds["reshape.1"] is Kind.SWAPPED
    assert Kind.TYPE not in kinds.values()
