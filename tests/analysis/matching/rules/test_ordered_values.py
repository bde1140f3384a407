"""Equal values in the order in which they are listed."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: u32[], b: u32[]) -> (u32[], u32[]) {
  %a = u32[] parameter(0)
  %b = u32[] parameter(1)
  %two = u32[] constant(2)
  %less = u32[] negate(%two)
  %first = u32[] add(%a, %less)
  %unit = u32[] constant(1)
  %twice = u32[] add(%unit, %unit)
  %second = u32[] add(%b, %twice)
  %more = u32[] multiply(%second, %unit)
  ROOT %r = (u32[], u32[]) tuple(%first, %more)
}
"""
_FOLDED = """
ENTRY %main (a: u32[], b: u32[]) -> (u32[], u32[]) {
  %a = u32[] parameter(0)
  %b = u32[] parameter(1)
  %constant.1 = u32[] constant(4294967294)
  %first = u32[] add(%a, %constant.1)
  %unit = u32[] constant(1)
  %constant.2 = u32[] constant(2)
  %second = u32[] add(%b, %constant.2)
  %more = u32[] multiply(%second, %unit)
  ROOT %r = (u32[], u32[]) tuple(%first, %more)
}
"""


def test_a_constant_that_was_folded_is_not_an_equal_one_that_is_gone(read: Read) -> None:
    matching = match(read(_BEFORE), read(_FOLDED))
    assert matching.partner_after(Place("main", "two")) is None
    assert matching.partner_after(Place("main", "twice")) == Place("main", "constant.2")
    assert matching.partner_after(Place("main", "less")) == Place("main", "constant.1")


def test_a_parameter_for_another_operand_of_its_fusion_is_new(read: Read) -> None:
    text = """
%held (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%p)
}
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %t = f32[8]{0} tanh(%a)
  ROOT %f = f32[8]{0} fusion(%t), kind=kLoop, calls=%held
}
"""
    after = """
%held (p.1: f32[8], q: f32[8]) -> (f32[8], f32[8]) {
  %p.1 = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %t.clone = f32[8]{0} tanh(%q)
  %n = f32[8]{0} negate(%t.clone)
  %s = f32[8]{0} sine(%p.1)
  ROOT %both = (f32[8]{0}, f32[8]{0}) tuple(%n, %s)
}
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %f = (f32[8]{0}, f32[8]{0}) fusion(%b, %a), kind=kLoop, calls=%held
  ROOT %e = f32[8]{0} get-tuple-element(%f), index=0
}
"""
    matching = match(read(text), read(after))
    assert matching.partner_after(Place("held", "p")) != Place("held", "p.1")
