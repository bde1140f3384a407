"""Concatenates that are operands of collectives."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost_report.joined_operands import JoinedOperand, find_joined_operands

MODULE = """HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

row {
  p = f32[4] parameter(0)
  q = f32[2] parameter(1)
  s = f32[4] negate(p)
  ROOT c = f32[6] concatenate(p, q), dimensions={0}
}

ENTRY e {
  a = f32[4] parameter(0)
  b = f32[2] parameter(1)
  j = f32[6] fusion(a, b), kind=kLoop, calls=row
  ROOT r = f32[6] all-reduce(j), replica_groups={}, to_apply=add
}"""


@pytest.mark.parametrize(
    ("before", "after", "is_joined"),
    [
        ("  s = f32[4] negate(p)\n", "", True),
        ("", "", False),
        ("fusion(a, b), kind=kLoop, calls=row", "concatenate(a, b), dimensions={0}", True),
        ("fusion(a, b), kind=kLoop, calls=row", "pad(a, b), padding=0_2", False),
        ("all-reduce(j), replica_groups={}, to_apply=add", "negate(j)", False),
    ],
)
def test_a_concatenate_that_a_collective_reads_joins(
    before: str, after: str, *, is_joined: bool
) -> None:
    joined = find_joined_operands(parse_module(MODULE.replace(before, after) if before else MODULE))
    assert joined == ({"j": JoinedOperand("r", "all-reduce", 2)} if is_joined else {})
