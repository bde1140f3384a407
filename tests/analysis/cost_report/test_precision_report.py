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


def test_what_cudnn_does_with_f32_is_not_known() -> None:
    convolution = (
        "  c = (f32[8,32,32,16], u8[0]) custom-call(x, w), window={size=3x3 pad=1_1x1_1}, "
        'dim_labels=b01f_o01i->b01f, custom_call_target="__cudnn$convForward"\n'
    )
    text = (
        "HloModule m\n\nENTRY e {\n  x = f32[8,32,32,8] parameter(0)\n"
        "  w = f32[16,3,3,8] parameter(1)\n  a = f32[64,64] parameter(2)\n"
        f"{convolution}  p = f32[64,64] dot(a, a), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={0}\n  ROOT t = () tuple()\n}\n"
    )
    known, unknown = "TF32 in the matrix units", "f32 or TF32, not known: the library chooses"
    for element_type, units in (("f32", f"{unknown}; {known}"), ("bf16", "bf16")):
        module = parse_module(text.replace("f32", element_type))
        rows = list_products(module, count_cost(module), devices()["nvidia-h100"])
        (only,) = sum_by_precision(rows)
        assert (only.products, only.unit) == (2, units)
