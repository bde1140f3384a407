"""Only what a matrix unit computes is an f32 matmul."""

from collections.abc import Callable

import pytest

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.wide_products import wide_products

NAME = ', metadata={op_name="layer/dot_general"}'
MATMUL = "[64,256,256] dot(a, a), lhs_batch_dims={0}, rhs_batch_dims={0}, "
DIMS = "lhs_contracting_dims={2}, rhs_contracting_dims={1}"


def program(dot: str, shape: str = "64,256,256") -> str:
    return (
        f"HloModule m\n\nENTRY e {{\n  x = bf16[{shape}] parameter(0)\n"
        f"  a = f32[{shape}] convert(x)\n  ROOT b = f32{dot}{NAME}\n}}\n"
    )


@pytest.mark.parametrize(
    ("dot", "shape", "count"),
    [
        (MATMUL + DIMS, "64,256,256", 1),
        (
            MATMUL + "lhs_contracting_dims={}, rhs_contracting_dims={}",
            "64,256",
            0,
        ),
        (MATMUL.removesuffix(", "), "64,256", 0),
        (MATMUL + DIMS, "64,256,1", 0),
    ],
)
def test_an_outer_product_is_no_matmul(
    case_of: Callable[..., Case], dot: str, shape: str, count: int
) -> None:
    assert len(list(wide_products(case_of(program(dot, shape))))) == count


def final(root: str) -> str:
    return (
        "HloModule m, is_scheduled=true\n\nENTRY e {\n  x = bf16[64,256,256] parameter(0)\n"
        "  a = f32[64,256,256] convert(x)\n"
        f'  ROOT b = f32[64,256,256] {root}, metadata={{op_name="jit(f)/layer/dot_general"}}\n}}\n'
    )


def test_a_dot_that_is_elementwise_in_the_end_is_no_matmul(case_of: Callable[..., Case]) -> None:
    before = program(MATMUL + DIMS)
    assert not list(wide_products(case_of(final("multiply(a, a)"), before)))
    assert list(wide_products(case_of(final(MATMUL.partition("] ")[2] + DIMS), before)))
    call = 'custom-call(a, a), custom_call_target="__cublas$gemm"'
    assert list(wide_products(case_of(final(call), before)))
    other = final("multiply(a, a)").replace("layer/", "elsewhere/")
    assert list(wide_products(case_of(other, before)))
