"""The instructions with the longest time."""

from collections.abc import Callable
from typing import TypeAlias

from tests.modules import parse_module

from xlareport.analysis.cost.heavy import list_heavy, rank_heaviest
from xlareport.analysis.cost.roofline import (
    estimate_total_time,
)
from xlareport.analysis.cost.work import ModuleCost, count_cost
from xlareport.analysis.source.served_ops import serve_ops
from xlareport.hlo.model import HloModule
from xlareport.knowledge.devices import Device

Count: TypeAlias = Callable[[str], ModuleCost]
ReadFile: TypeAlias = Callable[[str, str], HloModule]

DEVICE = Device("d", "a device", {"bf16": 100.0, "f32": 50.0}, {"f32": 10.0}, 4.0, "none")
TEXT = """ENTRY e {
  a = f32[10,10] parameter(0)
  product = f32[10,10] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  small = f32[10,10] negate(product)
  ROOT unknown = f32[10,10] custom-call(small), custom_call_target="mystery"
}"""


def test_the_heaviest_come_first_with_their_share(count: Count) -> None:
    cost = count(TEXT)
    first, second = list_heavy(parse_module(f"HloModule m\n\n{TEXT}"), cost, DEVICE, 5, {})
    assert (first.instruction, second.instruction) == ("product", "small")
    assert (first.seconds, second.seconds) == (300, 200)
    assert first.share + second.share == 1
    assert estimate_total_time(cost, DEVICE) == 500
    assert rank_heaviest(cost, DEVICE, 1) == ((("e", "product"), 300),)


def test_fused_instructions_are_not_ranked_beside_their_fusion(dumped: ReadFile) -> None:
    module = dumped("jax-cpu-train", "jit_train_step.cpu_after_optimizations.txt")
    rows = list(list_heavy(module, count_cost(module), DEVICE, 1000, {}))
    assert rows
    assert all(not row.cost.fused for row in rows)
    assert abs(sum(row.share for row in rows) - 1) < 1e-9


def test_heavy_rows_say_what_holds_them_back(dumped: ReadFile) -> None:
    module = dumped("jax-cpu-train", "jit_train_step.cpu_after_optimizations.txt")
    rows = list(list_heavy(module, count_cost(module), DEVICE, 10, {}))
    assert {row.least.bound for row in rows} <= {"compute", "memory", "interconnect"}
    assert any(row.source.startswith("jax_train.py:") for row in rows)


def test_a_combined_collective_has_the_op_of_its_largest_member() -> None:
    text = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  p = f32[3000] parameter(0)
  q = f32[10] parameter(1)
  m = f32[3000] negate(p), metadata={op_name="jit(f)/a/neg"}
  n = f32[10] negate(q), metadata={op_name="jit(f)/b/neg"}
  ROOT r = (f32[10], f32[3000]) all-reduce(n, m), replica_groups={{0,1}}, to_apply=add, \
metadata={op_name="jit(f)/b/neg" source_file="f.py" source_line=4}
}
"""
    module = parse_module(text)
    served = serve_ops(module)
    rows = list(list_heavy(module, count_cost(module), DEVICE, 10, served))
    (row,) = (row for row in rows if row.opcode == "all-reduce")
    assert (row.scope, row.source) == ("jit(f)/a/neg", "")


def test_elementwise_work_on_the_chip_has_no_known_bound() -> None:
    """The bandwidth of a TPU's VMEM is in no roofline; a product there is bound by its FLOPs."""
    text = """HloModule m

ENTRY e {
  a = f32[64,128]{1,0:T(8,128)S(1)} parameter(0)
  product = f32[64,64]{1,0:T(8,128)S(1)} dot(a, a), lhs_contracting_dims={1}, \
rhs_contracting_dims={1}
  sum = f32[64,128]{1,0:T(8,128)S(1)} add(a, a)
  b = f32[64,128]{1,0:T(8,128)} parameter(1)
  ROOT outside = f32[64,128]{1,0:T(8,128)} add(b, b)
}
"""
    module = parse_module(text)
    rows = list(list_heavy(module, count_cost(module), DEVICE, 5, {}))
    assert {row.instruction: row.limit for row in rows} == {
        "product": "compute",
        "sum": "",
        "outside": "memory",
    }
