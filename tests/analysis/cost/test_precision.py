"""Precision of products: what the HLO asks for, and what a device makes of it."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.precision import Precision, find_precision, name_product
from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.model import HloModule
from xlareport.knowledge.devices import devices

Count: TypeAlias = Callable[[str], ModuleCost]
ReadModule: TypeAlias = Callable[[str], HloModule]
DOT = """ENTRY e {{
  a = {0}[64,32] parameter(0)
  b = {0}[32,16] parameter(1)
  ROOT d = {1}[64,16] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{2}
}}"""


def site_of(module: HloModule) -> Site:
    assert module.entry is not None
    assert module.entry.root is not None
    return Site(module.entry.root, shapes_of(module.entry))


@pytest.mark.parametrize(
    ("element_type", "more", "kind"),
    [
        ("f32", "", "f32"),
        ("f32", ", operand_precision={highest,highest}", "f32 highest"),
        ("f32", ", operand_precision={high,default}", "f32 high"),
        ("bf16", ", operand_precision={highest,highest}", "bf16"),
        ("f32", ", algorithm=dot_bf16_bf16_f32_x3", "bf16 x3"),
        ("f32", ", algorithm=dot_tf32_tf32_f32", "tf32"),
        ("c64", "", "f32"),
        ("c128", "", "f64"),
    ],
)
def test_the_kind_of_a_product(
    module_of: ReadModule, element_type: str, more: str, kind: str
) -> None:
    assert name_product(site_of(module_of(DOT.format(element_type, element_type, more)))) == kind


def test_the_wider_of_two_operands_counts(module_of: ReadModule) -> None:
    mixed = DOT.format("u8", "bf16", "").replace("b = u8", "b = bf16")
    assert name_product(site_of(module_of(mixed))) == "bf16"
    turned = DOT.format("bf16", "f32", "").replace("b = bf16", "b = f32")
    assert name_product(site_of(module_of(turned))) == "f32"


def test_what_the_hlo_says(module_of: ReadModule) -> None:
    asked = DOT.format("f32", "f32", ", algorithm=dot_bf16_bf16_f32_x6")
    assert find_precision(site_of(module_of(asked))) == Precision(
        ("f32", "f32"), "dot_bf16_bf16_f32_x6", "f32", "f32"
    )
    plain = DOT.format("bf16", "f32", "")
    assert find_precision(site_of(module_of(plain))) == Precision(
        ("bf16", "bf16"), "default", None, "f32"
    )


@pytest.mark.parametrize(
    ("device", "kind", "words"),
    [
        ("tpu-v5e", "f32", "1 bf16 pass"),
        ("tpu-v5e", "f32 high", "3 bf16 passes"),
        ("tpu-v5e", "f32 highest", "6 bf16 passes"),
        ("tpu-v5e", "bf16", "bf16"),
        ("nvidia-h100", "f32", "TF32 in the matrix units"),
        ("nvidia-h100", "f32 highest", "f32 outside of the matrix units"),
        ("nvidia-v100", "f32", "f32"),
        ("nvidia-b200", "u8", "u8"),
        ("nominal-cpu", "f64", "f64"),
        ("nominal-cpu", "f32 high", "f32"),
        ("nominal-cpu", "bf16 x3", "not known"),
        ("tpu-v5e", "tf32", "not known"),
        ("tpu-v5e", "f16", "not known"),
        ("tpu-v5e", "f8e4m3fn", "not known"),
        ("nvidia-a100", "f8e4m3fn", "not known"),
        ("nvidia-v100", "bf16", "not known"),
    ],
)
def test_what_a_chip_makes_of_it(device: str, kind: str, words: str) -> None:
    assert devices()[device].product_words(kind) == words


def test_passes_take_time() -> None:
    tpu, gpu = devices()["tpu-v5e"], devices()["nvidia-h100"]
    rates = [tpu.matrix_peak(kind) for kind in ("f32", "f32 high", "f32 highest", "bf16 x3")]
    assert rates == [197e12, 197e12 / 3, 197e12 / 6, 197e12 / 3]
    assert (gpu.matrix_peak("f32"), gpu.matrix_peak("f32 highest")) == (495e12, 67e12)


def test_the_peak_is_that_of_the_type() -> None:
    gpu = devices()["nvidia-h100"]
    assert (gpu.vector_peak("f64"), gpu.vector_peak("f32")) == (34e12, 67e12)
    assert gpu.matrix_peak("f64") == 67e12
    assert devices()["tpu-v5e"].matrix_peak("f64") == 197e12, "of the next type that is listed"


@pytest.mark.parametrize(("element_type", "times"), [("c64", 4), ("c128", 4), ("f64", 1)])
def test_a_complex_product_takes_four_real_ones(
    count: Count, element_type: str, times: int
) -> None:
    cost = count(DOT.format(element_type, element_type, ""))
    assert cost.flops == times * 2 * 64 * 32 * 16
    assert cost.xla_flops == 2 * 64 * 32 * 16, "XLA counts a complex product as one"


@pytest.mark.parametrize(
    ("opcode", "flops", "transcendentals"),
    [("add", 2, 0), ("multiply", 6, 0), ("divide", 11, 0), ("exponential", 0, 3)],
)
def test_complex_elements_count_in_real_operations(
    count: Count, opcode: str, flops: int, transcendentals: int
) -> None:
    operands = "a" if opcode == "exponential" else "a, a"
    cost = count(
        f"ENTRY e {{\n  a = c64[10] parameter(0)\n  ROOT r = c64[10] {opcode}({operands})\n}}"
    )
    assert cost.flops is not None
    extra = 2 if opcode == "exponential" else 0
    assert (cost.flops, cost.transcendentals) == (10 * (flops + extra), 10 * transcendentals)


def test_f64_elements_run_at_the_rate_of_f64(count: Count) -> None:
    text = "ENTRY e {\n  a = f64[1000] parameter(0)\n  ROOT r = f64[1000] multiply(a, a)\n}"
    cost = count(text).instructions["e", "r"]
    assert cost.vector_flops == (("f64", 1000),)
    least = estimate_time(cost, devices()["nvidia-h100"])
    assert least is not None
    assert least.arithmetic == 1000 / 34e12


def test_a_fusion_and_a_reduction_count_by_the_types_inside(count: Count) -> None:
    cost = count(
        """add {
  x = f64[] parameter(0)
  y = f64[] parameter(1)
  ROOT s = f64[] add(x, y)
}

fused {
  p = f64[100] parameter(0)
  z = f64[] constant(0)
  m = f64[100] multiply(p, p)
  ROOT r = f64[] reduce(m, z), dimensions={0}, to_apply=add
}

ENTRY e {
  a = f64[100] parameter(0)
  ROOT f = f64[] fusion(a), kind=kLoop, calls=fused
}"""
    )
    assert cost.instructions["e", "f"].vector_flops == (("f64", 199),)


def test_a_collective_waits_for_the_wire(count: Count) -> None:
    cost = count(
        """add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

ENTRY e {
  a = f32[1000000] parameter(0)
  ROOT r = f32[1000000] all-reduce(a), replica_groups={{0,1,2,3}}, to_apply=add
}"""
    ).instructions["e", "r"]
    assert cost.wire_bytes == 6_000_000
    least = estimate_time(cost, devices()["tpu-v5e"])
    assert least is not None
    assert (least.seconds, least.bound) == (6_000_000 / 50e9, "interconnect")


def test_workspace_is_no_traffic(count: Count) -> None:
    text = (
        "ENTRY e {\n  a = f32[64,32] parameter(0)\n  b = f32[32,16] parameter(1)\n"
        "  ROOT r = (f32[64,16], s8[4000000]) custom-call(a, b),"
        ' custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":'
        '{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}\n}'
    )
    cost = count(text).instructions["e", "r"]
    assert (cost.flops, cost.bytes_written) == (2 * 64 * 16 * 32, 64 * 16 * 4)


def test_tiles_that_do_not_divide_are_moved_whole(count: Count) -> None:
    cost = count(
        "ENTRY e {\n  a = f32[10,129]{1,0:T(8,128)} parameter(0)\n"
        "  ROOT n = f32[10,129]{1,0:T(8,128)S(3)} negate(a)\n}"
    ).instructions["e", "n"]
    assert cost.main_memory_bytes == 16 * 256 * 4, "what lies in CMEM is not charged to HBM"
    assert cost.bytes_accessed == 2 * 10 * 129 * 4
