"""How often computations run: loops, branches, fusions, what is applied to scalars."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.executions import Times
from xlareport.analysis.cost.work import ModuleCost

Count: TypeAlias = Callable[[str], ModuleCost]

LOOP = """{body} {{
  s{name} = (s32[], f32[8,8]) parameter(0)
  i{name} = s32[] get-tuple-element(s{name}), index=0
  x{name} = f32[8,8] get-tuple-element(s{name}), index=1
  y{name} = f32[8,8] {work}
  ROOT t{name} = (s32[], f32[8,8]) tuple(i{name}, y{name})
}}

{condition} {{
  c{name} = (s32[], f32[8,8]) parameter(0)
  ROOT p{name} = pred[] custom-call(c{name}), custom_call_target="x"
}}
"""
NOTED = ', backend_config={"known_trip_count":{"n":"%s"}}'


def loop(name: str, work: str) -> str:
    return LOOP.format(name=name, body=f"body{name}", condition=f"cond{name}", work=work)


def entry(config: str = "", name: str = "") -> str:
    return f"""ENTRY e {{
  n = s32[] constant(0)
  x = f32[8,8] parameter(0)
  t = (s32[], f32[8,8]) tuple(n, x)
  ROOT w = (s32[], f32[8,8]) while(t), condition=cond{name}, body=body{name}{config}
}}
"""


def executions(cost: ModuleCost, computation: str, instruction: str) -> tuple[int | None, int]:
    found = cost.instructions[computation, instruction]
    return found.executions, found.counted


def test_a_body_runs_as_often_as_the_loop_and_the_condition_once_more(count: Count) -> None:
    cost = count(loop("", "multiply(x, x)") + "\n" + entry(NOTED % 5))
    assert executions(cost, "body", "y") == (5, 5)
    assert executions(cost, "cond", "p") == (6, 6)


def test_a_loop_of_unknown_count_counts_once(count: Count) -> None:
    cost = count(loop("", "multiply(x, x)") + "\n" + entry())
    assert executions(cost, "body", "y") == (None, 1)
    assert executions(cost, "cond", "p") == (None, 2)


def test_loops_in_loops_multiply(count: Count) -> None:
    call = "get-tuple-element(inner), index=1\n"
    outer = loop("o", "add(xo, xo)").replace(
        "  ROOT to",
        "  to1 = (s32[], f32[8,8]) tuple(io, yo)\n"
        "  inner = (s32[], f32[8,8]) while(to1), condition=cond, body=body"
        f"{NOTED % 4}\n  zo = f32[8,8] {call}  ROOT to",
    )
    cost = count("\n".join([loop("", "multiply(x, x)"), outer, entry(NOTED % 3, "o")]))
    assert executions(cost, "bodyo", "yo") == (3, 3)
    assert executions(cost, "body", "y") == (12, 12)
    assert executions(cost, "cond", "p") == (15, 15)


BRANCHES = """small {
  a = f32[8,8] parameter(0)
  ROOT s = f32[8,8] add(a, a)
}

large {
  b = f32[8,8] parameter(0)
  ROOT d = f32[8,8] dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

ENTRY e {
  p = pred[] parameter(0)
  x = f32[8,8] parameter(1)
  ROOT c = f32[8,8] conditional(p, x, x), true_computation=small, false_computation=large
}
"""


def test_only_the_costliest_branch_counts_and_none_is_known_to_run(count: Count) -> None:
    cost = count(BRANCHES)
    assert executions(cost, "small", "s") == (None, 0)
    assert executions(cost, "large", "d") == (None, 1)
    assert cost.branches == 1


def test_what_is_fused_or_applied_does_not_run_by_itself(count: Count) -> None:
    cost = count("""sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

fused {
  q = f32[8,8] parameter(0)
  ROOT r = f32[8,8] multiply(q, q)
}

ENTRY e {
  x = f32[8,8] parameter(0)
  zero = f32[] constant(0)
  f = f32[8,8] fusion(x), kind=kLoop, calls=fused
  ROOT total = f32[8] reduce(f, zero), dimensions={1}, to_apply=sum
}
""")
    assert cost.instructions["fused", "r"].fused
    assert not cost.instructions["e", "f"].fused
    assert ("sum", "c") not in cost.instructions


@pytest.mark.parametrize(
    ("times", "result"),
    [
        (Times(2, 2) + Times(3, 3), Times(5, 5)),
        (Times(None, 1) + Times(3, 3), Times(None, 4)),
        (Times(2, 2).times(5, 5), Times(10, 10)),
        (Times(2, 2).times(None, 1), Times(None, 2)),
        (Times(None, 4).times(5, 5), Times(None, 20)),
    ],
)
def test_what_is_not_known_stays_unknown_and_is_counted(times: Times, result: Times) -> None:
    assert times == result
