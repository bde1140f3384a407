"""The compiler's estimated cycles: whose they are, and what they cover."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.cycles import add_cycles, list_without_cycles
from xlareport.analysis.cost.work import count_cost

CYCLES = ', backend_config={"estimated_cycles":"900"}'
FINAL = """HloModule m, is_scheduled=true

ENTRY e {
  a = f32[128,128]{1,0:T(8,128)} parameter(0)
  d = f32[128,128]{1,0:T(8,128)} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[128,128]{1,0:T(8,128)} negate(d)
  ROOT c = f32[128,128]{1,0:T(8,128)} copy(n)
}
"""
DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
LAST = FINAL.replace(DOT, f"{DOT}{CYCLES}")


def test_an_instruction_has_the_cycles_of_the_one_of_its_name() -> None:
    final = parse_module(FINAL)
    cost = add_cycles(count_cost(final), final, parse_module(LAST))
    assert {key[1]: each.cycles for key, each in cost.instructions.items() if each.cycles} == {
        "d": 900
    }
    assert cost.has_all_cycles


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("d = f32[128,128]{1,0:T(8,128)}", "d = f32[128,128]{1,0:T(8,128)S(1)}"),
        ("dot(a, a)", "dot(a, b)"),
        ("d = f32", "other = f32"),
        ("ENTRY e", "ENTRY other"),
    ],
    ids=["shape", "operands", "name", "computation"],
)
def test_texts_that_differ_share_no_cycles(old: str, new: str) -> None:
    final = parse_module(FINAL)
    last = LAST.replace("  d =", "  b = f32[128,128] negate(a)\n  d =")
    cost = add_cycles(count_cost(final), final, parse_module(last.replace(old, new)))
    assert not any(each.cycles for each in cost.instructions.values())
    assert not cost.has_all_cycles


def test_cycles_of_little_arithmetic_are_not_those_of_the_module() -> None:
    final = parse_module(FINAL)
    last = parse_module(FINAL.replace("negate(d)", f"negate(d){CYCLES}"))
    cost = add_cycles(count_cost(final), final, last)
    assert cost.instructions["e", "n"].cycles == 900
    assert not cost.has_all_cycles


def test_a_custom_call_that_cannot_be_counted_leaves_the_module_uncovered() -> None:
    call = 'custom-call(n), custom_call_target="mystery"'
    final = parse_module(FINAL.replace("copy(n)", call))
    cost = add_cycles(count_cost(final), final, parse_module(LAST.replace("copy(n)", call)))
    assert cost.instructions["e", "d"].cycles == 900
    assert not cost.has_all_cycles


SCATTERED = f"""HloModule m, is_scheduled=true, num_partitions=2

less {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT l = pred[] compare(x, y), direction=LT
}}

inner {{
  p = f32[128] parameter(0)
  ROOT s = f32[128] sort(p), dimensions={{0}}, to_apply=less
}}

outer {{
  p = f32[128] parameter(0)
  ROOT f = f32[128] fusion(p), kind=kCustom, calls=inner
}}

squares {{
  p = f32[128] parameter(0)
  ROOT m = f32[128] multiply(p, p)
}}

begin {{
  p = f32[128] parameter(0)
  ROOT c = f32[128] custom-call(p), custom_call_target="AsyncCollectiveStart"
}}

ENTRY e {{
  p = f32[128] parameter(0)
  a = f32[128] sort(p), dimensions={{0}}, to_apply=less
  b = f32[128] fusion(a), kind=kCustom, calls=outer
  c = f32[128] fusion(b), kind=kCustom, calls=squares
  d = f32[128] fusion(c), kind=kLoop, calls=squares
  g = f32[128] fusion(d), kind=kCustom, calls=begin
  h = f32[128] sort(g), dimensions={{0}}, to_apply=less{CYCLES}
  m = f32[128,128] broadcast(h), dimensions={{0}}
  ROOT n = f32[128,128] dot(m, m), {DOT}{CYCLES}
}}
"""


def test_sorts_and_custom_fusions_without_cycles_are_counted() -> None:
    module = parse_module(SCATTERED)
    cost = add_cycles(count_cost(module), module, module)
    assert list_without_cycles(module, cost) == (("sort", 2), ("custom fusion", 1))
    assert not list_without_cycles(module, count_cost(module))
