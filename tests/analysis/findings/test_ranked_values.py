import pytest
from tests.modules import parse_module

from xlareport.analysis.findings.ranked_values import are_ranked

TEXT = """HloModule m

most {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  k = pred[] compare(a, b), direction=GE
  v = f32[] select(k, a, b)
  w = s32[] select(k, i, j)
  ROOT r = (f32[], s32[]) tuple(v, w)
}

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

scaled {
  p = f32[8] parameter(0)
  ROOT q = f32[8] exponential(p)
}

ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  c = f32[8] parameter(2)
  i = s32[8] iota(), iota_dimension=0
  zero = f32[] constant(0)
  none = s32[] constant(0)
  f = f32[8] fusion(a), kind=kLoop, calls=scaled
  m = (f32[], s32[]) reduce(f, i, zero, none), dimensions={0}, to_apply=most
  s = f32[] reduce(b, zero), dimensions={0}, to_apply=add
  n = f32[8] negate(c)
  t = (f32[2], s32[2]) custom-call(n), custom_call_target="TopK"
  ROOT r = ((f32[], s32[]), f32[], (f32[2], s32[2])) tuple(m, s, t)
}
"""


def test_a_fusion_around_a_sort_makes_ranked_values() -> None:
    text = TEXT.replace("ROOT q = f32[8] exponential(p)", "ROOT q = f32[8] sort(p), dimensions={0}")
    module = parse_module(text.replace("reduce(f, i,", "reduce(b, i,"))
    entry = module.by_name["e"]
    assert are_ranked(module, entry, entry.by_name["f"])


@pytest.mark.parametrize(("name", "count"), [("a", 1), ("b", 0), ("c", 1)])
def test_an_argmax_or_a_top_k_puts_values_in_order_and_a_sum_does_not(
    name: str, count: int
) -> None:
    module = parse_module(TEXT)
    entry = module.by_name["e"]
    assert are_ranked(module, entry, entry.by_name[name]) == bool(count)
