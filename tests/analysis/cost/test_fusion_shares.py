"""The time of fusions at what they contain."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.breakdown import break_down
from xlareport.analysis.cost.fusion_shares import share_fusions
from xlareport.analysis.cost.roofline import estimate_total_time
from xlareport.analysis.cost.work import ModuleCost, count_cost
from xlareport.analysis.operation_families import family_in
from xlareport.hlo.model import HloModule
from xlareport.knowledge.devices import Device, devices, nominal_device

CPU = nominal_device("cpu")
CHIP = devices()["tpu-v5e"]
NESTED = """inner {
  p = f32[512,512] parameter(0)
  ROOT n = f32[512,512] negate(p)
}

outer {
  p = f32[512,512] parameter(0)
  f = f32[512,512] fusion(p), kind=kLoop, calls=inner
  b = f32[512,512] bitcast(f)
  ROOT d = f32[512,512] dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

ENTRY e {
  x = f32[512,512] parameter(0)
  ROOT y = f32[512,512] fusion(x), kind=kOutput, calls=outer
}"""
ADDED = NESTED.replace("dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "add(b, b)")
STACKED = """inner {
  p = bf16[24,4096,4096] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  ROOT s = bf16[1,4096,4096] dynamic-slice(p, i, z, z), dynamic_slice_sizes={1,4096,4096}
}

outer {
  p = bf16[24,4096,4096] parameter(0)
  i = s32[] parameter(1)
  x = bf16[4096,4096] parameter(2)
  f = bf16[1,4096,4096] fusion(p, i), kind=kLoop, calls=inner
  b = bf16[4096,4096] bitcast(f)
  ROOT d = bf16[4096,4096] dot(x, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

ENTRY e {
  w = bf16[24,4096,4096] parameter(0)
  i = s32[] parameter(1)
  x = bf16[4096,4096] parameter(2)
  ROOT y = bf16[4096,4096] fusion(w, i, x), kind=kOutput, calls=outer
}"""
SLICED = """fused {
  p = f32[1000,1000] parameter(0)
  q = f32[1000] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  s = f32[1,1000] dynamic-slice(p, i, z), dynamic_slice_sizes={1,1000}
  r = f32[1000] bitcast(s)
  ROOT a = f32[1000] add(r, q)
}

ENTRY e {
  x = f32[1000,1000] parameter(0)
  v = f32[1000] parameter(1)
  i = s32[] parameter(2)
  ROOT y = f32[1000] fusion(x, v, i), kind=kLoop, calls=fused
}"""


def _opcodes(module: HloModule) -> dict[str, float]:
    cost = count_cost(module)
    parts = break_down(module, cost, family_in, share_fusions(module, cost, CPU))
    whole = estimate_total_time(cost, CPU)
    assert whole
    return {part.name: part.seconds / whole for part in parts}


def test_a_product_in_a_fusion_has_its_time(module_of: Callable[[str], HloModule]) -> None:
    shares = _opcodes(module_of(NESTED))
    assert shares["dot"] == pytest.approx(1), "its arithmetic takes as long as the fusion"
    assert shares["fusion"] == 0


def test_time_and_bytes_go_through_nested_fusions(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(ADDED)
    cost = count_cost(module)
    shares = share_fusions(module, cost, CPU)
    halves = [("inner", "n"), ("outer", "d")]
    assert [shares.bytes[key] for key in halves] == [1 << 20, 1 << 20], "one reads, one writes"
    assert shares.seconds[halves[0]] == pytest.approx(shares.seconds[halves[1]])
    assert shares.whole["e", "y"] == pytest.approx(sum(shares.seconds.values()))


def test_slices_of_nested_fusions_have_no_time_of_a_product(
    module_of: Callable[[str], HloModule],
) -> None:
    module = module_of(STACKED)
    cost = count_cost(module)
    shares = share_fusions(module, cost, CHIP)
    assert cost.flops
    assert shares.seconds["outer", "d"] == pytest.approx(cost.flops / CHIP.matrix_peak("bf16"))
    assert shares.seconds["inner", "s"] == 0


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
@pytest.mark.parametrize("device", [CPU, CHIP], ids=["cpu", "chip"])
def test_no_product_is_faster_than_the_chip(
    dumped: Callable[[str, str], HloModule], dump: str, device: Device
) -> None:
    module = dumped(dump, "after_optimizations.txt")
    cost = count_cost(module)
    seconds = share_fusions(module, cost, device).seconds
    for key, instruction in cost.instructions.items():
        least = sum(flops / device.matrix_peak(kind) for kind, flops in instruction.matrix_flops)
        if module.by_name[key[0]].by_name[key[1]].opcode != "fusion":
            assert seconds[key] >= least * instruction.counted * (1 - 1e-9), key


def test_what_reads_and_writes_has_the_time_of_memory(
    module_of: Callable[[str], HloModule],
) -> None:
    shares = _opcodes(module_of(SLICED))
    assert shares["dynamic-slice"] == 0
    assert shares["add"] == pytest.approx(1), "it needs the row that the slice reads"


def test_a_move_that_is_a_result_keeps_what_it_reads(
    module_of: Callable[[str], HloModule],
) -> None:
    text = SLICED.replace("ROOT a = f32[1000] add(r, q)", "a = f32[1000] add(r, q)")
    pair = "(f32[1000], f32[1000])"
    text = text.replace("add(r, q)\n", f"add(r, q)\n  ROOT t = {pair} tuple(r, a)\n")
    shares = _opcodes(module_of(text.replace("y = f32[1000] fusion", f"y = {pair} fusion")))
    assert shares["dynamic-slice"] == pytest.approx(8004 / 16004), "read and written"


def test_bytes_of_a_nested_slice_belong_to_the_product_that_needs_it(
    module_of: Callable[[str], HloModule],
) -> None:
    module = module_of(
        STACKED.replace("x = bf16[4096,4096]", "x = bf16[8,4096]")
        .replace("bf16[4096,4096] dot", "bf16[8,4096] dot")
        .replace("y = bf16[4096,4096]", "y = bf16[8,4096]")
    )
    cost = count_cost(module)
    shares = share_fusions(module, cost, CHIP)
    assert shares.bytes["inner", "s"] == 0
    assert shares.bytes["outer", "d"] == cost.bytes_accessed
    assert shares.seconds["outer", "d"] == pytest.approx(shares.whole["e", "y"])


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_the_sum_remains(dumped: Callable[[str, str], HloModule], dump: str) -> None:
    assert sum(_opcodes(dumped(dump, "after_optimizations.txt")).values()) == pytest.approx(1)


BIASED = """fused {
  p = bf16[16,256] parameter(0)
  q = bf16[256,1024] parameter(1)
  b = f32[16,1024] parameter(2)
  d = f32[16,1024] convolution(p, q), dim_labels=bf_io->bf
  a = f32[16,1024] add(d, b)
  ROOT m = f32[16,1024] maximum(a, b)
}

ENTRY e {
  x = bf16[16,256] parameter(0)
  w = bf16[256,1024] parameter(1)
  v = f32[16,1024] parameter(2)
  ROOT y = f32[16,1024] fusion(x, w, v), kind=kOutput, calls=fused
}"""
"""A matmul with an elementwise epilogue."""


def _in_cycles(cost: ModuleCost, cycles: int) -> ModuleCost:
    """Return a cost whose fusion in the entry has estimated cycles."""
    fusion = replace(cost.instructions["e", "y"], cycles=cycles)
    return replace(
        cost, instructions={**cost.instructions, ("e", "y"): fusion}, has_all_cycles=True
    )


def test_cycles_of_a_fusion_are_those_of_its_product(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(BIASED)
    cost = _in_cycles(count_cost(module), 15_000)
    shares = share_fusions(module, cost, CHIP)
    whole = shares.whole["e", "y"]
    assert whole == pytest.approx(1e-5)
    assert shares.seconds["fused", "d"] > 0.9 * whole
    least = (1 << 14) / CHIP.vector_peak("f32")
    assert shares.seconds["fused", "m"] >= least, "not less than its arithmetic"
    assert sum(shares.seconds.values()) == pytest.approx(whole)


def test_a_product_hides_accesses_of_others(module_of: Callable[[str], HloModule]) -> None:
    """Where arithmetic limits a fusion, the reads of an epilogue take no time of their own."""
    module = module_of(BIASED.replace("16,", "8192,").replace("256", "8192"))
    cost = _in_cycles(count_cost(module), 1_200_000)
    shares = share_fusions(module, cost, CHIP)
    whole = shares.whole["e", "y"]
    least = 2 * 8192 * 8192 * 1024 / CHIP.matrix_peak("bf16")
    assert whole > least
    assert shares.seconds["fused", "d"] > 0.95 * whole


def test_cycles_below_the_least_times_leave_the_product_its_arithmetic(
    module_of: Callable[[str], HloModule],
) -> None:
    module = module_of(BIASED)
    cost = count_cost(module)
    product = cost.instructions["fused", "d"].flops or 0
    seconds = 1.5 * product / CHIP.matrix_peak("bf16")
    shares = share_fusions(module, _in_cycles(cost, round(seconds * 1.5e9)), CHIP)
    assert shares.seconds["fused", "d"] >= product / CHIP.matrix_peak("bf16")
    assert shares.seconds["fused", "a"] > 0


def test_parts_have_fusions_with_what_they_contain(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(ADDED)
    shares = share_fusions(module, count_cost(module), CPU)
    assert shares.parts["e", "y"] == shares.whole["e", "y"]
    assert shares.parts["outer", "f"] == shares.seconds["inner", "n"] > 0
    assert shares.parts["outer", "d"] == shares.seconds["outer", "d"]
