"""The remedy for a scatter into zeros depends on what it was before optimization."""

import pytest
from tests.analysis.findings.conftest import MakeCase

from xlareport.analysis.findings.dense_gradients import dense_gradients

AFTER = """HloModule m, is_scheduled=true

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

ENTRY e {
  i = s32[8,1] parameter(0)
  u = f32[8,1024] parameter(1)
  z = f32[] constant(0)
  b = f32[65536,1024] broadcast(z), dimensions={}
  s = f32[65536,1024] scatter(b, i, u), update_window_dims={1}, inserted_window_dims={0}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add, metadata={op_name="step/grad"}
  ROOT n = f32[65536,1024] negate(s)
}
"""
BEFORE = """HloModule m

ENTRY e {
  x = f32[65536,1024] parameter(0)
  u = f32[8,1024] parameter(1)
  z = f32[] constant(0)
  ROOT p = f32[65536,1024] select-and-scatter(x, u, z), window={size=8192x1 stride=8192x1}, \
select=ge, scatter=add, metadata={op_name="step/grad"}
}
"""


@pytest.mark.parametrize(
    ("before", "advice"),
    [("", "embedding table"), (BEFORE, "max-pool"), (BEFORE.replace("grad", "x"), "embedding")],
)
def test_the_gradient_of_a_max_pool_is_no_embedding_table(
    case_of: MakeCase, before: str, advice: str
) -> None:
    (finding,) = dense_gradients(case_of(AFTER, before))
    assert advice in finding.suggestion
    assert ("all else" in finding.evidence) == ("embedding" in advice)
