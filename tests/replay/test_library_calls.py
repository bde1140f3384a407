"""Calls of cuBLAS and cuDNN as plain instructions; what they are not is refused by name."""

import json

import pytest
from tests.replay.programs import entry, program

from xlareport.replay.runnable_program import NotRunnableError

NUMBERS = {"lhs_contracting_dimensions": ["1"], "rhs_contracting_dimensions": ["0"]}
GEMM = {"alpha_real": 1, "alpha_imag": 0, "beta": 0, "dot_dimension_numbers": NUMBERS}
CONVOLUTION = {"activation_mode": "kNone", "conv_result_scale": 1, "side_input_scale": 0}


def lines(call: str, part: str, config: dict[str, object]) -> list[str]:
    text = f"""%a = f32[4,8] parameter(0)
    %b = f32[8,2] parameter(1)
    %c = f32[4,2] parameter(2)
    %x = f32[1,9,9,3] parameter(3)
    %k = f32[3,3,3,5] parameter(4)
    %g = f32[1,5,5,5] parameter(5)
    ROOT %r = {call}, backend_config={json.dumps({part: config})}"""
    return [line.text().strip() for line in program(entry(text)).entry.lines[6:]]


def gemm(operands: str, **config: object) -> list[str]:
    call = f'(f32[4,2], s8[64]) custom-call({operands}), custom_call_target="__cublas$gemm"'
    return lines(call, "gemm_backend_config", {**GEMM, **config})


def convolution(kind: str, shape: str, operands: str, **config: object) -> list[str]:
    call = (
        f"({shape}, u8[0]) custom-call({operands}), window={{size=3x3 stride=2x2 pad=1_1x1_1}}, "
        f'dim_labels=b01f_01io->b01f, custom_call_target="__cudnn$conv{kind}"'
    )
    return lines(call, "cudnn_conv_backend_config", {**CONVOLUTION, **config})


def test_a_gemm_is_a_dot_and_its_workspace_is_zero() -> None:
    assert gemm("%a, %b") == [
        "%r.result.dot = f32[4,2] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "%r.result = f32[4,2] copy(%r.result.dot)",
        "%r.zero = s8[] constant(0)",
        "%r.workspace = s8[64] broadcast(%r.zero), dimensions={}",
        "ROOT %r = (f32[4,2], s8[64]) tuple(%r.result, %r.workspace)",
    ]


def test_factors_and_a_third_matrix_are_written_out() -> None:
    text = "\n".join(gemm("%a, %b, %c", alpha_real=0.5, beta=1))
    assert "%r.result.scaled.factor = f32[] constant(0.5)" in text
    assert "%r.result = f32[4,2] add(%r.result.scaled, %c)" in text


def test_a_forward_convolution_is_one() -> None:
    assert convolution("Forward", "f32[1,5,5,5]", "%x, %k")[0] == (
        "%r.result = f32[1,5,5,5] convolution(%x, %k), "
        "window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"
    )


def test_a_gradient_is_a_convolution_with_dilations() -> None:
    assert convolution("BackwardFilter", "f32[3,3,3,5]", "%x, %g")[0] == (
        "%r.result = f32[3,3,3,5] convolution(%x, %g), "
        "window={size=5x5 pad=1_1x1_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf"
    )
    assert convolution("BackwardInput", "f32[1,9,9,3]", "%g, %k")[0] == (
        "%r.result = f32[1,9,9,3] convolution(%g, %k), "
        "window={size=3x3 pad=1_1x1_1 lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=b01f_01oi->b01f"
    )


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"epilogue": "GELU"}, "its epilogue is GELU"),
        ({"alpha_real": "1"}, "configuration is not known"),
        ({"dot_dimension_numbers": 3}, "configuration is not known"),
        ({"beta": 1}, "2 operands"),
    ],
)
def test_other_gemms_are_refused(config: dict[str, object], reason: str) -> None:
    with pytest.raises(NotRunnableError, match=reason):
        gemm("%a, %b", **config)


def test_other_convolutions_are_refused() -> None:
    with pytest.raises(NotRunnableError, match="not a plain convolution"):
        convolution("Forward", "f32[1,5,5,5]", "%x, %k", activation_mode="kRelu")
