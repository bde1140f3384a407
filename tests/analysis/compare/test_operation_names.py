"""The op that each instruction works for, also where the compiler wrote no op_name."""

from xlareport.analysis.compare.operation_names import name_operations
from xlareport.hlo.text import TextReader

MODULE = b"""HloModule jit_f, is_scheduled=true

%upcast (p: bf16[8,8]) -> f32[8,8] {
  %p = bf16[8,8]{1,0} parameter(0)
  ROOT %up = f32[8,8]{1,0} convert(%p)
}

%weights (w: bf16[8,8]) -> f32[8,8] {
  %w = bf16[8,8]{1,0} parameter(0)
  %first = f32[8,8]{1,0} convert(%w)
  ROOT %second = f32[8,8]{0,1} copy(%first)
}

ENTRY %main (a: bf16[8,8], b: bf16[8,8]) -> (f32[8,8], f32[8,8]) {
  %a = bf16[8,8]{1,0} parameter(0), metadata={op_name="params"}
  %b = bf16[8,8]{1,0} parameter(1)
  %t = bf16[8,8]{1,0} tanh(%a), metadata={op_name="jit(f)/tanh"}
  %same = bf16[8,8]{1,0} bitcast(%t)
  %wide = f32[8,8]{1,0} fusion(%same), kind=kLoop, calls=%upcast
  %kernel = f32[8,8]{0,1} fusion(%b), kind=kLoop, calls=%weights
  %d = f32[8,8]{1,0} dot(%wide, %kernel), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/dot_general"}
  %lone = f32[8,8]{1,0} convert(%b)
  ROOT %r = (f32[8,8], f32[8,8]) tuple(%d, %lone)
}
"""


def test_a_convert_works_for_the_op_whose_value_it_converts() -> None:
    module = TextReader().read(MODULE, "a.txt")
    assert module is not None
    names = name_operations(module)
    assert names["main", "wide"] == names["upcast", "up"] == "jit(f)/tanh"


def test_what_converts_an_argument_works_for_the_op_that_uses_it() -> None:
    module = TextReader().read(MODULE, "a.txt")
    assert module is not None
    names = name_operations(module)
    for place in (("main", "kernel"), ("weights", "first"), ("weights", "second")):
        assert names[place] == "jit(f)/dot_general"
    assert names["main", "lone"] == ""
