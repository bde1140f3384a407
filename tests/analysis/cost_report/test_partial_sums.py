"""Matmuls in parts, with the sizes of their sums."""

from tests.modules import parse_module

from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.cost_report.partial_sums import find_partial_sums

MODULE = """HloModule m, is_scheduled=true

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

total {
  parts = f32[4,8,16] parameter(0)
  zero = f32[] constant(0)
  sum = f32[8,16] reduce(parts, zero), dimensions={0}, to_apply=add
  ROOT narrow = bf16[8,16] convert(sum)
}

ENTRY e {
  a = f32[4,8,2] parameter(0)
  b = f32[4,2,16] parameter(1)
  parts = f32[4,8,16] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, \
lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT r = bf16[8,16] fusion(parts), kind=kLoop, calls=total
}"""


def test_the_sum_has_the_size_of_what_adds_the_parts() -> None:
    module = parse_module(MODULE)
    assert find_partial_sums(module, count_cost(module)) == {"parts": 8 * 16 * 2}


def test_a_batched_product_that_nothing_adds_up_has_no_parts() -> None:
    module = parse_module(MODULE.replace("dimensions={0}", "dimensions={1}"))
    assert find_partial_sums(module, count_cost(module)) == {}
