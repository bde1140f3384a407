"""Rules that depend on the device: a TPU launches no kernels for the iterations of a loop."""

from collections.abc import Callable

from msgspec.structs import replace
from tests.analysis.findings.texts import having

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.serial_loops import serial_loops
from xlareport.analysis.findings.wide_products import wide_products
from xlareport.knowledge.devices import device_named, nominal_device


def test_iterations_cost_a_launch_on_a_gpu_and_what_is_not_known_on_a_tpu(
    case_of: Callable[..., Case],
) -> None:
    case = case_of(having("serial-loops"))
    tpu = device_named("TPU v5e")
    assert tpu is not None
    (on_gpu,) = serial_loops(replace(case, device=nominal_device("gpu")))
    assert on_gpu.latency_seconds == 12544 * 2e-6
    assert on_gpu.seconds is None, "launches are no part of the roofline time"
    assert "less than its launch overhead" in on_gpu.evidence
    (on_tpu,) = serial_loops(replace(case, device=tpu))
    assert on_tpu.any_seconds == 0
    assert "launch" not in on_tpu.evidence


def test_the_norm_of_a_vector_is_no_matmul(case_of: Callable[..., Case]) -> None:
    text = having("wide-products")
    assert list(wide_products(case_of(text)))
    flat = text.replace("256,256", "65536").replace("dims={1}", "dims={0}")
    norm = flat.replace("ROOT b = f32[65536]", "ROOT b = f32[]")
    assert "f32[] dot(a, a)" in norm
    assert not list(wide_products(case_of(norm)))
