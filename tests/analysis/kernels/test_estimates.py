"""XLA's estimates as backend_config has them; whatever is no number is none."""

from tests.modules import parse_module

from xlareport.analysis.kernels.estimates import XlaEstimate, read_estimates
from xlareport.hlo.model import HloModule

TEXT = """HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  ROOT a = f32[4] negate(p), backend_config={"reification_cost":[COSTS]}
}
"""
REAL = (
    '{"end_to_end_cycles":83.16,"exec_time_us":0.042,"compute_time_us":0.03225,'
    '"memory_access_time_us":0.0405,"name":""},'
    '{"end_to_end_cycles":0,"exec_time_us":0.0055,"compute_time_us":0,'
    '"memory_access_time_us":0,"name":"sol"}'
)
"""Of jax 0.10.2 with --xla_gpu_collect_cost_model_stats=true, for an H100."""


def module(costs: str) -> HloModule:
    return parse_module(TEXT.replace("COSTS", costs))


def test_every_model_has_its_own() -> None:
    """The model without a name is XLA's GpuPerformanceModel; cycles of 0 are not known."""
    assert read_estimates(module(REAL)) == {
        "a": (XlaEstimate("gpu-cost-model", 0.042, 83.16), XlaEstimate("sol", 0.0055, None))
    }


def test_nothing_is_made_up() -> None:
    """Texts, missing times and negative ones are no estimates."""
    costs = '{"exec_time_us":"x"},{"name":"sol"},{"exec_time_us":-1},{"exec_time_us":true},7'
    assert read_estimates(module(costs)) == {}
    assert read_estimates(module("")) == {}
