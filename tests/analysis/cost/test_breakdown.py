from collections.abc import Callable

import pytest

from xlareport.analysis.cost.breakdown import (
    GroupKey,
    break_down,
    divide_by_op,
    key_by_computation,
    key_by_scope,
)
from xlareport.analysis.cost.fusion_shares import share_fusions
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.operation_families import family_in
from xlareport.analysis.source.served_ops import serve_ops
from xlareport.hlo.model import HloModule
from xlareport.knowledge.devices import nominal_device

CPU = nominal_device("cpu")
FUSION = """fused {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p), metadata={op_name="jit(f)/one/add" source_file="f.py" source_line=1}
  ROOT b = f32[4] tanh(a), metadata={op_name="jit(f)/two/tanh" source_file="f.py" source_line=2}
}

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] fusion(x), kind=kLoop, calls=fused, metadata={op_name="jit(f)/two/tanh"}
  ROOT z = f32[4] custom-call(y), custom_call_target="mystery"
}"""


COMBINED = """sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  p = f32[3000] parameter(0)
  q = f32[1000] parameter(1)
  m = f32[3000] negate(p), metadata={op_name="jit(f)/a/neg"}
  n = f32[1000] negate(q), metadata={op_name="jit(f)/b/neg"}
  ROOT r = (f32[3000], f32[1000]) all-reduce(m, n), replica_groups={{0,1}}, to_apply=sum, \
metadata={op_name="jit(f)/(a/neg:b/neg)"}
}"""


def test_arithmetic_and_bytes_inside_a_fusion(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(FUSION)
    cost = count_cost(module)
    shares, served = share_fusions(module, cost, CPU), serve_ops(module)
    divided = divide_by_op(module, cost, key_by_scope(2), shares, served)
    found = {one.name: one for one in divided}
    assert (found["jit(f)/one"].flops, found["jit(f)/one"].bytes_accessed) == (4, 16)
    assert (found["jit(f)/two"].transcendentals, found["jit(f)/two"].bytes_accessed) == (4, 16)
    assert found["jit(f)/two"].unknown_ops == 1, "the call without op_name reads its result"


def test_an_asynchronous_operation_counts_once(module_of: Callable[[str], HloModule]) -> None:
    module = module_of("""ENTRY e {
  x = f32[4] parameter(0)
  s = (f32[4], f32[4], u32[]) copy-start(x)
  d = f32[4] copy-done(s)
  ROOT y = f32[4] tanh(d)
}""")
    cost = count_cost(module)
    parts = break_down(
        module, cost, lambda _, line: line.opcode[:4], share_fusions(module, cost, CPU)
    )
    assert {part.name: part.instructions for part in parts} == {"copy": 1, "tanh": 1}


def test_levels_of_control_flow_are_no_scopes(module_of: Callable[[str], HloModule]) -> None:
    inside = 'op_name="jit(f)/jvp(g)/while/body/closed_call/attention/mul"'
    module = module_of(FUSION.replace('op_name="jit(f)/one/add"', inside))
    key = key_by_scope(3)
    named = {
        key(computation, instruction, instruction.metadata.op_name)
        for computation in module.computations
        for instruction in computation.instructions
    }

    assert "jit(f)/jvp(g)/attention" in named


def test_levels_without_a_name_do_not_count(module_of: Callable[[str], HloModule]) -> None:
    inside = "jit(f)/steps/transpose(jvp())/while/body/checkpoint/rematted_computation/mlp/mul"
    module = module_of(FUSION.replace("jit(f)/one/add", inside))
    instruction = module.by_name["fused"].by_name["a"]
    key = key_by_scope(3)
    assert key(module.by_name["fused"], instruction, inside) == (
        "jit(f)/steps/transpose(jvp())/rematted_computation/mlp"
    )


@pytest.mark.parametrize(
    ("op_name", "scope"),
    [
        ("jit(f)/(transpose(jvp(a))/dot:transpose(jvp(b))/dot)", "jit(f)/(several op_names)"),
        ("jit(f)/a/mul;jit(f)/b/mul", "jit(f)/(several op_names)"),
        ("jit(f)/(a/mul:a/dot)", "jit(f)/a"),
        ("jit(f)/(jvp)/mul", "jit(f)/(jvp)"),
        ("jit(f)/jvp(a/b)/mul", "jit(f)/jvp(a/b)"),
    ],
)
def test_op_names_that_were_merged(
    module_of: Callable[[str], HloModule], op_name: str, scope: str
) -> None:
    module = module_of(FUSION.replace('op_name="jit(f)/one/add"', f'op_name="{op_name}"'))
    instruction = module.by_name["fused"].by_name["a"]
    key = key_by_scope(2)
    assert key(module.by_name["fused"], instruction, instruction.metadata.op_name) == scope


def test_members_have_their_shares_of_the_flops(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(COMBINED)
    cost = count_cost(module)
    shares = share_fusions(module, cost, CPU)
    found = divide_by_op(module, cost, key_by_scope(2), shares, serve_ops(module))
    assert {part.name: part.flops for part in found} == {"jit(f)/a": 6_000, "jit(f)/b": 2_000}


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_the_parts_add_up(dumped: Callable[[str, str], HloModule], dump: str) -> None:
    module = dumped(dump, "after_optimizations.txt")
    cost = count_cost(module)
    keys: list[GroupKey] = [
        family_in,
        key_by_computation,
    ]
    shares = share_fusions(module, cost, CPU)
    divisions = [break_down(module, cost, key, shares) for key in keys]
    divisions.append(divide_by_op(module, cost, key_by_scope(3), shares, serve_ops(module)))
    for found in divisions:
        assert sum(one.flops for one in found) == cost.flops
        assert sum(one.transcendentals for one in found) == cost.transcendentals
        assert sum(one.bytes_accessed for one in found) == cost.bytes_accessed
