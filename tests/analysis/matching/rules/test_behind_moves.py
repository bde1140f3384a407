"""Operands that a new convert separates from their users."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule m
%relu (y: f32[8,8]) -> f32[8,8] {
  %y = f32[8,8]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %zeros = f32[8,8]{1,0} broadcast(%zero), dimensions={}
  ROOT %max.3 = f32[8,8]{1,0} maximum(%y, %zeros)
}
ENTRY %main (x: f32[8,8], w: f32[8,8], v: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %x = f32[8,8]{1,0} parameter(0)
  %w = f32[8,8]{1,0} parameter(1)
  %v = f32[8,8]{1,0} parameter(2)
  %once = f32[8,8]{1,0} call(%x), to_apply=%relu
  %one = f32[8,8]{1,0} dot(%once, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %two = f32[8,8]{1,0} dot(%once, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%one, %two)
}
"""
_FUSED = """
%{name} (p: f32[4,8], q: f32[8,8]) -> f32[4,8] {{
  %p.{name} = f32[4,8]{{1,0}} parameter(0)
  %q.{name} = f32[8,8]{{1,0}} parameter(1)
  %zero.{name} = f32[] constant(0)
  %zeros.{name} = f32[4,8]{{1,0}} broadcast(%zero.{name}), dimensions={{}}
  %max.{name} = f32[4,8]{{1,0}} maximum(%p.{name}, %zeros.{name})
  %half.{name} = bf16[4,8]{{1,0}} convert(%max.{name})
  ROOT %dot.{name} = f32[4,8]{{1,0}} convolution(%half.{name}, %q.{name}), dim_labels=bf_io->bf
}}
"""
_AFTER = (
    "HloModule m"
    + _FUSED.format(name="a")
    + _FUSED.format(name="b")
    + """
ENTRY %main_spmd (x.1: f32[4,8], w.1: f32[8,8], v.1: f32[8,8]) -> (f32[4,8], f32[4,8]) {
  %x.1 = f32[4,8]{1,0} parameter(0)
  %w.1 = f32[8,8]{1,0} parameter(1)
  %v.1 = f32[8,8]{1,0} parameter(2)
  %a = f32[4,8]{1,0} fusion(%x.1, %w.1), kind=kLoop, calls=%a
  %b = f32[4,8]{1,0} fusion(%x.1, %v.1), kind=kLoop, calls=%b
  ROOT %out = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%a, %b)
}
"""
)


def test_an_operand_behind_new_converts_goes_on_and_is_not_expanded(read: Read) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    known = matching.pairing_before(Place("relu", "max.3"))
    assert known is not None
    assert set(known.after) == {Place("a", "max.a"), Place("b", "max.b")}
    assert known.relation is not Relation.EXPANDED
    convert = matching.pairing_after(Place("a", "half.a"))
    assert convert is not None
    assert convert.relation is Relation.ADDED


_CONSTANTS = """
HloModule m
ENTRY %main (x: bf16[8]) -> bf16[8] {
  %x = bf16[8]{0} parameter(0)
  %c.1 = bf16[] constant(0.5)
  %mul.1 = bf16[8]{0} broadcast(%c.1), dimensions={}, metadata={op_name="mul"}
  %mul.2 = bf16[8]{0} multiply(%x, %mul.1), metadata={op_name="mul"}
  %c.2 = bf16[] constant(0.25)
  %mul.3 = bf16[8]{0} broadcast(%c.2), dimensions={}, metadata={op_name="mul"}
  ROOT %mul.4 = bf16[8]{0} multiply(%mul.2, %mul.3), metadata={op_name="mul"}
}
"""
_WIDENED = """
HloModule m
%fused (p: bf16[8]) -> bf16[8] {
  %p = bf16[8]{0} parameter(0)
  %convert = f32[8]{0} convert(%p)
  %k.1 = bf16[] constant(0.5)
  %mul.33 = bf16[8]{0} broadcast(%k.1), dimensions={}, metadata={op_name="mul"}
  %convert.1 = f32[8]{0} convert(%mul.33)
  %mul.32 = f32[8]{0} multiply(%convert, %convert.1), metadata={op_name="mul"}
  %k.2 = bf16[] constant(0.25)
  %mul.35 = bf16[8]{0} broadcast(%k.2), dimensions={}, metadata={op_name="mul"}
  %convert.2 = f32[8]{0} convert(%mul.35)
  %mul.34 = f32[8]{0} multiply(%mul.32, %convert.2), metadata={op_name="mul"}
  ROOT %convert.3 = bf16[8]{0} convert(%mul.34)
}
ENTRY %main (x: bf16[8]) -> bf16[8] {
  %x = bf16[8]{0} parameter(0)
  ROOT %fusion = bf16[8]{0} fusion(%x), kind=kLoop, calls=%fused
}
"""


def test_a_constant_that_is_converted_now_goes_on(read: Read) -> None:
    matching = match(read(_CONSTANTS), read(_WIDENED))
    for old, new in (("mul.1", "mul.33"), ("mul.3", "mul.35"), ("c.1", "k.1"), ("c.2", "k.2")):
        assert matching.partner_after(Place("main", old)) == Place("fused", new)


def test_another_constant_behind_a_convert_is_new(read: Read) -> None:
    other = _WIDENED.replace("constant(0.25)", "constant(0.75)")
    matching = match(read(_CONSTANTS), read(other))
    assert matching.partner_after(Place("main", "c.2")) is None
