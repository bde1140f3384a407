"""The count of a module by XLA's own rules."""

from tests.modules import parse_module

from xlareport.analysis.cost.work import count_cost

LOOP = """HloModule m

body {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  d = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[8,8]) tuple(j, d)
}

condition {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}

ENTRY e {
  x = f32[8,8] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[8,8]) tuple(zero, x)
  ROOT w = (s32[], f32[8,8]) while(t), condition=condition, body=body
}
"""
_DOT = 2 * 8 * 8 * 8
CONDITIONAL = """HloModule m

small {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}

large {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p)
  ROOT b = f32[4] multiply(a, a)
}

ENTRY e {
  which = pred[] parameter(0)
  x = f32[4] parameter(1)
  ROOT c = f32[4] conditional(which, x, x), true_computation=small, false_computation=large
}
"""


def test_the_body_of_a_loop_counts_once() -> None:
    cost = count_cost(parse_module(LOOP))
    assert cost.xla_flops == _DOT + 1 + 1  # the counter, and the comparison
    assert cost.flops == 5 * (_DOT + 1) + 6


def test_of_branches_the_most_counts() -> None:
    assert count_cost(parse_module(CONDITIONAL)).xla_flops == 8


def test_a_branch_that_is_not_there_leaves_the_count_unknown() -> None:
    other = CONDITIONAL.replace("false_computation=large", "false_computation=gone")
    assert count_cost(parse_module(other)).xla_flops is None


def test_a_custom_call_counts_as_minus_one() -> None:
    text = (
        "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n"
        '  ROOT c = f32[4] custom-call(x), custom_call_target="f"\n}\n'
    )
    assert count_cost(parse_module(text)).xla_flops == -1


def test_a_function_that_is_applied_counts_for_each_element() -> None:
    text = """HloModule m

square {
  p = f32[] parameter(0)
  a = f32[] multiply(p, p)
  ROOT b = f32[] add(a, a)
}

ENTRY e {
  x = f32[10] parameter(0)
  ROOT m = f32[10] map(x), dimensions={0}, to_apply=square
}
"""
    assert count_cost(parse_module(text)).xla_flops == 20
