"""Over what matrix products and reductions sum, and what a step says if that changes."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.analysis.steps.summed_dimensions import measure_sum

TEXT = """HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  a = f32[32,1,256] parameter(0)
  b = f32[32,1,1024] parameter(1)
  zero = f32[] constant(0)
  d = f32[256,1024] dot(a, b), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  r = f32[256] reduce(a, zero), dimensions={0,1}, to_apply=add
  n = f32[256] negate(r)
  ROOT t = (f32[256,1024], f32[256]) tuple(d, n)
}"""


@pytest.mark.parametrize(("name", "size"), [("d", 32), ("r", 32), ("n", None)])
def test_dimensions_that_are_summed_are_measured(name: str, size: int | None) -> None:
    module = parse_module(TEXT)
    line = module.by_name["e"].by_name[name]
    assert measure_sum(module, Place("e", name), line) == size


def test_a_partial_sum_is_a_change_though_its_result_has_the_same_shape() -> None:
    """The SPMD partitioner divides the batch: each device sums over its part."""
    change = step(parse_module(TEXT), parse_module(TEXT.replace("[32,", "[16,")))
    rows = {row.before.instruction: row for row in change.changes if row.before}
    for name in ("d", "r"):
        assert rows[name].kind is Kind.SUMMED
        assert str(rows[name].details[0]) == "sums over 32 → 16 elements"
    sentence = "changed the number of summands of 1 dot and 1 reduce"
    assert sentence in change.headline
    assert "the dot `%d` in `e` sums over `32` → `16` elements" in change.headline
