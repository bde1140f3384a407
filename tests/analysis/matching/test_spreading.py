from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

BEFORE = """
HloModule step
ENTRY %main.1 (w: f32[8,8], v: f32[8,8], x: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %w = f32[8,8]{1,0} parameter(0)
  %v = f32[8,8]{1,0} parameter(1)
  %x = f32[8,8]{1,0} parameter(2)
  %first = f32[8,8]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %middle = f32[8,8]{1,0} tanh(%first)
  %second = f32[8,8]{1,0} dot(%middle, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %back = f32[8,8]{1,0} dot(%second, %w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT %out = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%second, %back)
}
"""
AFTER = """
HloModule step
ENTRY %main.1 (param: f32[8,8], param.1: f32[8,8], param.2: f32[8,8]) -> (f32[8,8], f32[8,8]) {
  %param = f32[8,8]{1,0} parameter(0)
  %param.1 = f32[8,8]{1,0} parameter(1)
  %param.2 = f32[8,8]{1,0} parameter(2)
  %transpose = f32[8,8]{1,0} transpose(%param.2), dimensions={1,0}
  %dot = f32[8,8]{1,0} dot(%transpose, %param), lhs_contracting_dims={0}, rhs_contracting_dims={1}
  %tanh.1 = f32[8,8]{1,0} tanh(%dot)
  %dot.1 = f32[8,8]{1,0} dot(%tanh.1, %param.1), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  %dot.2 = f32[8,8]{1,0} dot(%dot.1, %param), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %tuple = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%dot.1, %dot.2)
}
"""


def test_a_dot_that_looks_like_another_is_not_it_where_other_dots_lie_above(read: Read) -> None:
    found = match(read(BEFORE), read(AFTER))
    for name, other in (("first", "dot"), ("second", "dot.1"), ("back", "dot.2")):
        assert found.partner_after(Place("main.1", name)) == Place("main.1", other)
