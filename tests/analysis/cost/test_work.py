from collections.abc import Callable
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.partitions import has_local_shapes
from xlareport.analysis.cost.work import Costs, ModuleCost, count_cost, name_bound
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

Count: TypeAlias = Callable[[str], ModuleCost]
ReadModule: TypeAlias = Callable[[str], HloModule]
ReadFile: TypeAlias = Callable[[str, str], HloModule]

LOOP = """body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[4] get-tuple-element(s), index=1
  y = f32[4] multiply(x, x)
  ROOT t = (s32[], f32[4]) tuple(next, y)
}

condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY e {
  zero = s32[] BOUND
  x = f32[4] parameter(0)
  t = (s32[], f32[4]) tuple(zero, x)
  ROOT w = (s32[], f32[4]) while(t), condition=condition, body=body
}"""


def test_a_loop_counts_its_trips_for_us_and_once_for_xla(count: Count) -> None:
    cost = count(LOOP.replace("BOUND", "constant(0)"))
    assert cost.flops == 10 * (1 + 4) + 11
    assert cost.xla_flops == (1 + 4) + 1
    assert cost.unknown_ops == 0
    inner = cost.instructions["body", "y"]
    assert (inner.flops, inner.executions, inner.counted) == (4, 10, 10)
    assert cost.instructions["condition", "less"].executions == 11
    assert cost.trip_counts["e", "w"].count == 10


def test_an_unknown_loop_counts_once_and_is_said_to_be_unknown(count: Count) -> None:
    cost = count(LOOP.replace("BOUND", "parameter(1)"))
    assert cost.flops == (1 + 4) + 2
    assert cost.unknown_ops == 1
    inner = cost.instructions["body", "y"]
    assert (inner.executions, inner.counted) == (None, 1)


def test_the_costliest_branch_counts(count: Count) -> None:
    cost = count(
        """cheap {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}

dear {
  x = f32[4] parameter(0)
  y = f32[4] negate(x)
  ROOT z = f32[4] add(y, y)
}

ENTRY e {
  which = s32[] parameter(0)
  x = f32[4] parameter(1)
  ROOT c = f32[4] conditional(which, x, x), branch_computations={cheap, dear}
}"""
    )
    assert cost.flops == cost.xla_flops == 8
    assert cost.instructions["dear", "z"].executions is None
    assert cost.instructions["dear", "z"].counted == 1
    assert cost.instructions["cheap", "y"].counted == 0
    assert cost.branches == 1


def test_which_branch_runs_does_not_matter_where_they_do_as_much(count: Count) -> None:
    cost = count(
        """left {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}

right {
  x = f32[4] parameter(0)
  ROOT y = f32[4] abs(x)
}

ENTRY e {
  which = s32[] parameter(0)
  x = f32[4] parameter(1)
  ROOT c = f32[4] conditional(which, x, x), branch_computations={left, right}
}"""
    )
    assert (cost.flops, cost.branches) == (4, 0)


@pytest.mark.parametrize(
    ("unknown", "branches", "bound"),
    [(0, 0, ""), (2, 0, "at least"), (0, 1, "at most"), (1, 1, "about"), (None, None, "")],
)
def test_what_totals_are(unknown: int | None, branches: int | None, bound: str) -> None:
    """A conditional may run a cheaper branch, what is not counted adds to the totals."""
    assert name_bound(unknown, branches) == bound


def test_what_is_fused_belongs_to_the_fusion(count: Count) -> None:
    cost = count(
        """fused {
  x = f32[4] parameter(0)
  y = f32[4] tanh(x)
  ROOT z = f32[4] add(y, y)
}

ENTRY e {
  x = f32[4] parameter(0)
  f = f32[4] fusion(x), kind=kLoop, calls=fused
  ROOT g = f32[4] fusion(f), kind=kLoop, calls=fused
}"""
    )
    assert (cost.flops, cost.transcendentals, cost.bytes_accessed) == (8, 8, 64)
    whole, part = cost.instructions["e", "f"], cost.instructions["fused", "z"]
    assert (whole.flops, whole.transcendentals, whole.bytes_accessed) == (4, 4, 32)
    assert (part.flops, part.bytes_accessed, part.fused, part.executions) == (4, 0, True, 2)


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_the_parts_add_up_to_the_whole(dumped: ReadFile, dump: str) -> None:
    cost = count_cost(dumped(dump, "after_optimizations.txt"))
    parts = [instruction for instruction in cost.instructions.values() if not instruction.fused]
    assert cost.flops == sum(part.flops * part.counted for part in parts if part.flops)
    moved = (part.bytes_accessed * part.counted for part in parts if part.bytes_accessed)
    assert cost.bytes_accessed == sum(moved)


def test_figures_of_one_of_several_devices_say_so(dumped: ReadFile) -> None:
    cost = count_cost(dumped("tpu-v5e-scan", "after_optimizations.txt"))
    assert cost.num_partitions > 1
    assert cost.per_device


def test_a_computation_is_counted_once_for_all_snapshots(module_of: ReadModule) -> None:
    text = "ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x)\n}"
    costs, module = Costs(), module_of(text)
    assert costs.module(module) == costs.module(module)


WIDTHS = """sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[WIDTH] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=sum
}"""


def test_the_same_line_costs_what_its_operands_say() -> None:
    reader, costs = TextReader(), Costs()
    texts = (f"HloModule m\n\n{WIDTHS.replace('WIDTH', width)}\n" for width in ("4", "8"))
    small, large = (reader.read(text.encode(), "m.txt") for text in texts)
    assert small is not None
    assert large is not None
    assert small.find("e", "r") is large.find("e", "r")
    totals = [costs.total(small), costs.total(large)]
    assert [(one.flops, one.bytes_accessed) for one in totals if one] == [(3, 24), (7, 40)]


def test_calls_that_go_round_have_no_known_figure(count: Count) -> None:
    cost = count("ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] call(x), to_apply=e\n}")
    assert (cost.flops, cost.bytes_accessed, cost.xla_flops) == (None, None, None)


def test_an_asynchronous_start_counts_what_it_wraps(count: Count) -> None:
    cost = count(
        """wrapped {
  x = f32[8] parameter(0)
  ROOT s = f32[2] slice(x), slice={[0:2]}
}

ENTRY e {
  x = f32[8] parameter(0)
  a = ((f32[8]), f32[2], u32[]) async-start(x), calls=wrapped
  ROOT d = f32[2] async-done(a)
}"""
    )
    assert cost.bytes_accessed == 16
    assert cost.xla_bytes_accessed == 16 + 12 + 8


def test_loops_that_multiply_beyond_belief_are_not_known(count: Count) -> None:
    calls = "\n\n".join(
        f"c{level} {{\n  x = f32[4] parameter(0)\n  a = f32[4] call(x), to_apply=c{level - 1}\n"
        f"  ROOT b = f32[4] call(a), to_apply=c{level - 1}\n}}"
        for level in range(1, 3000)
    )
    innermost = "c0 {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x)\n}"
    entry = "ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] call(x), to_apply=c2999\n}"
    cost = count(f"{innermost}\n\n{calls}\n\n{entry}")
    assert (cost.flops, cost.xla_flops) == (None, None)


def test_an_array_of_absurd_size_costs_itself_only(count: Count) -> None:
    cost = count(
        """ENTRY e {
  x = f32[4] parameter(0)
  big = f32[999999999999999999,999999999999999999] broadcast(x), dimensions={}
  ROOT y = f32[4] negate(x)
}"""
    )
    assert (cost.flops, cost.unknown_ops) == (4, 1)


def test_shapes_are_those_of_one_device_once_the_module_is_partitioned(
    dumped: Callable[[str, str], HloModule],
) -> None:
    first = dumped("gpu-h100x2-train", "train_step.before_optimizations.txt")
    final = dumped("gpu-h100x2-train", "gpu_after_optimizations.txt")
    assert (has_local_shapes(first), has_local_shapes(final)) == (False, True)
    assert count_cost(first).num_devices == 1
    assert count_cost(final).num_devices == 2
