"""Products by precision: what multiplies as it is asked to, and no solver."""

from tests.modules import parse_module

from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.cost_report.precision_report import list_products, sum_by_precision
from xlareport.knowledge.devices import devices

TEXT = b"""HloModule m

ENTRY e {
  a = f32[64,64] parameter(0)
  b = f32[64,8] parameter(1)
  p = f32[64,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = (f32[64,8], s8[0]) custom-call(a, b), custom_call_target="__cublas$triangularSolve"
  e = (f32[64], f32[64,64]) custom-call(a, b), custom_call_target="cusolver_syevd_ffi"
  k = f32[64,8] custom-call(a, b), custom_call_target="tpu_custom_call", \
backend_config={"custom_call_config":{"cost_estimate":{"flops":"1000"}}}
  ROOT t = () tuple()
}
"""


def test_solvers_and_kernels_with_an_estimate_are_no_products() -> None:
    module = parse_module(TEXT)
    rows = list_products(module, count_cost(module), devices()["nvidia-h100"])
    assert [(row.instruction, row.flops) for row in rows] == [("p", 2 * 64 * 64 * 8)]
    (only,) = sum_by_precision(rows)
    assert (only.kind, only.unit, only.products) == ("f32", "TF32 in the matrix units", 1)
