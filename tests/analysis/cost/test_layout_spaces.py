from collections.abc import Callable

from xlareport.analysis.cost.layout_spaces import sum_layout_spaces
from xlareport.hlo.model import HloModule

TEXT = """fused {
  p = f32[8]{0:S(1)} parameter(0)
  ROOT n = f32[8]{0:S(1)} negate(p)
}

ENTRY e {
  x = f32[8]{0} parameter(0)
  a = (f32[8]{0:S(1)}, f32[8]{0}, u32[]{:S(2)}) copy-start(x)
  d = f32[8]{0:S(1)} copy-done(a)
  f = f32[8]{0:T(1024)S(1)} fusion(d), kind=kLoop, calls=fused
  t = (f32[8]{0:S(1)}) tuple(f)
  ROOT g = f32[8]{0:S(1)} get-tuple-element(t), index=0
}"""


def test_values_by_the_space_of_their_layout(module_of: Callable[[str], HloModule]) -> None:
    layout_spaces = sum_layout_spaces(module_of(TEXT))
    assert [(one.number, one.values, one.size) for one in layout_spaces] == [(1, 3, 96), (2, 1, 4)]


def test_without_a_space_in_any_layout_there_is_none(
    module_of: Callable[[str], HloModule],
) -> None:
    assert sum_layout_spaces(module_of("ENTRY e {\n  ROOT x = f32[8]{0} parameter(0)\n}")) == ()
