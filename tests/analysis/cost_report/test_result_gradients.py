"""Gradients of results of matmuls, among them those of logits."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost_report.result_gradients import ResultGradient, find_result_gradients

MODULE = """HloModule m

ENTRY e {
  x = f32[4,8] parameter(0)
  w = f32[8,32] parameter(1)
  l = f32[4,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/jvp(head)/dot_general"}
  p = f32[4,32] exponential(l), metadata={op_name="jit(f)/jvp(loss)/exp"}
  g = f32[4,32] negate(p), metadata={op_name="jit(f)/transpose(jvp(loss))/neg"}
  b = f32[4,32] bitcast(g)
  ROOT dx = f32[4,8] dot(b, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}, \
metadata={op_name="jit(f)/transpose(jvp(head))/dot_general"}
}"""


@pytest.mark.parametrize(
    ("before", "after", "gradients"),
    [
        ("", "", {"g": ResultGradient("head/dot_general", has_softmax=True)}),
        ("exponential", "negate", {"g": ResultGradient("head/dot_general", has_softmax=False)}),
        ('op_name="jit(f)/jvp(head)', 'op_name="jit(f)/jvp(tail)', {}),
        ("f32[4,32] dot", "f32[2,64] dot", {}),
        ("transpose(jvp(loss))", "jvp(loss)", {}),
        (
            "dot(x, w), ",
            "dot(x, w), lhs_batch_dims={0}, ",
            {"g": ResultGradient("head/dot_general", has_softmax=False)},
        ),
    ],
)
def test_the_gradient_of_a_result_is_read_by_the_matmuls_of_its_backward_pass(
    before: str, after: str, gradients: dict[str, ResultGradient]
) -> None:
    text = MODULE.replace(before, after) if before else MODULE
    assert find_result_gradients(parse_module(text), ["x", "p", "g", "dx"]) == gradients


def test_other_instructions_are_not_looked_at() -> None:
    assert find_result_gradients(parse_module(MODULE), ["p"]) == {}
