"""One instruction at a time; the figures are those of jaxlib 0.12's own cost analysis."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.work import ModuleCost

Count: TypeAlias = Callable[[str], ModuleCost]

ADD = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"
LESS = (
    "less {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
    "  ROOT z = pred[] compare(x, y), direction=LT\n}\n"
)

CASES = [
    # instruction, operands, flops, transcendentals, bytes accessed
    ("f32[4,5] add(p0, p1)", ["f32[4,5]", "f32[4,5]"], 20, 0, 240),
    ("f32[10] tanh(p0)", ["f32[10]"], 0, 10, 80),
    ("f32[10] erf(p0)", ["f32[10]"], 0, 10, 80),
    ("f32[10] acosh(p0)", ["f32[10]"], 0, 10, 80),
    ("pred[10] is-finite(p0)", ["f32[10]"], 10, 0, 50),
    ("s32[5] bitcast-convert(p0)", ["f32[5]"], 5, 0, 40),
    ("u32[10] mulhi(p0, p1)", ["u32[10]", "u32[10]"], 10, 0, 120),
    ("f32[5] iota(), iota_dimension=0", [], 0, 0, 20),
    (
        "f32[4,6] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        ["f32[4,5]", "f32[5,6]"],
        240,
        0,
        4 * (20 + 30 + 24),
    ),
    (
        "f32[4,4] scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        ["f8e4m3fn[4,64]", "f8e4m3fn[64,4]", "f8e8m0fnu[4,2]", "f8e8m0fnu[2,4]"],
        2048,
        0,
        592,
    ),
    (
        (
            "f32[8,5] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
            "lhs_ragged_dims={0}, rhs_group_dims={0}"
        ),
        ["f32[8,4]", "f32[3,4,5]", "s32[3]"],
        40,
        0,
        540,
    ),
    ("c64[5,6] fft(p0), fft_type=FFT, fft_length={6}", ["c64[5,6]"], 480, 0, 480),
    ("f32[7] sort(p0), dimensions={0}, to_apply=less", ["f32[7]"], 21, 0, 56),
    ("f32[5,5] cholesky(p0)", ["f32[5,5]"], 41, 0, 100),
    (
        "f32[4,3] triangular-solve(p0, p1), left_side=true, transpose_a=NO_TRANSPOSE",
        ["f32[4,4]", "f32[4,3]"],
        96,
        0,
        128,
    ),
    ("f32[2] slice(p0), slice={[0:2]}", ["f32[100]"], 0, 0, 16),
    ("f32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}", ["f32[100]", "s32[]"], 0, 0, 20),
    ("f32[100] dynamic-update-slice(p0, p1, p2)", ["f32[100]", "f32[3]", "s32[]"], 0, 0, 28),
    ("(f32[4], f32[2]) tuple(p0, p1)", ["f32[4]", "f32[2]"], 0, 0, 8),
    ('f32[5,5] custom-call(p0), custom_call_target="foo"', ["f32[5,5]"], -1, 0, -1),
    ("f32[5] reduce(p0, p1), dimensions={0}, to_apply=add", ["f32[3,5]", "f32[]"], 10, 0, 84),
    (
        "(f32[4], f32[6]) all-reduce(p0, p1), replica_groups={}, to_apply=add",
        ["f32[4]", "f32[6]"],
        10,
        0,
        80,
    ),
    (
        "(f32[4], f32[8]) all-gather-start(p0), dimensions={0}, replica_groups={{0,1}}",
        ["f32[4]"],
        0,
        0,
        64,
    ),
    ("(u64[2], u32[10]) rng-bit-generator(p0), algorithm=rng_default", ["u64[2]"], 0, 12, 72),
    ("f32[<=5] set-dimension-size(p0, p1), dimensions={0}", ["f32[5]", "s32[]"], 0, 0, 48),
    ("f32[256,10]{0,1:T(8,128)} copy(p0)", ["f32[256,10]{0,1:T(8,128)}"], 0, 0, 32768),
    ("f32[5,2]{1,0} transpose(p0), dimensions={1,0}", ["f32[2,5]{0,1}"], 0, 0, 0),
    ("f32[5,2]{1,0} transpose(p0), dimensions={1,0}", ["f32[2,5]{1,0}"], 0, 0, 80),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_xla_counts(count: Count, case: tuple[str, list[str], int, int, int]) -> None:
    instruction, operands, flops, transcendentals, moved = case
    parameters = "".join(
        f"  p{n} = {operand} parameter({n})\n" for n, operand in enumerate(operands)
    )
    cost = count(f"{ADD}{LESS}ENTRY e {{\n{parameters}  ROOT r = {instruction}\n}}")
    assert cost.xla_flops == flops
    assert cost.xla_transcendentals == transcendentals
    assert cost.xla_bytes_accessed == moved


PUBLISHED = [
    # 5 N log2 N for each complex transform of N points in all dimensions, half for a real one
    ("c64[3,8] fft(p0), fft_type=FFT, fft_length={8}", ["c64[3,8]"], 3 * 5 * 8 * 3),
    ("c128[8,16] fft(p0), fft_type=IFFT, fft_length={8,16}", ["c128[8,16]"], 5 * 128 * 7),
    ("c64[2,5] fft(p0), fft_type=RFFT, fft_length={8}", ["f32[2,8]"], 2 * 5 * 8 * 3 // 2),
    ("f32[2,8] fft(p0), fft_type=IRFFT, fft_length={8}", ["c64[2,5]"], 2 * 5 * 8 * 3 // 2),
    # n^2 for each right-hand side, four times as much with complex numbers
    ("f64[4,3] triangular-solve(p0, p1), left_side=true", ["f64[4,4]", "f64[4,3]"], 16 * 3),
    ("c64[2,4,3] triangular-solve(p0, p1)", ["c64[2,4,4]", "c64[2,4,3]"], 4 * 2 * 16 * 3),
    ("f32[5,8] sort(p0), dimensions={1}, to_apply=less", ["f32[5,8]"], 5 * 8 * 3),
]


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case[0])
def test_our_count_is_the_published_one(count: Count, case: tuple[str, list[str], int]) -> None:
    instruction, operands, flops = case
    parameters = "".join(
        f"  p{n} = {operand} parameter({n})\n" for n, operand in enumerate(operands)
    )
    cost = count(f"{LESS}ENTRY e {{\n{parameters}  ROOT r = {instruction}\n}}")
    assert cost.flops == flops


def test_our_count_leaves_out_tables_padding_and_ends(count: Count) -> None:
    cost = count(
        """ENTRY e {
  p0 = f32[256,10]{0,1:T(8,128)} parameter(0)
  s = (f32[256,10]{0,1:T(8,128)S(1)}, f32[256,10]{0,1:T(8,128)}, u32[]) copy-start(p0)
  d = f32[256,10]{0,1:T(8,128)S(1)} copy-done(s)
  ROOT t = (f32[256,10]{0,1:T(8,128)S(1)}) tuple(d)
}"""
    )
    assert cost.bytes_accessed == 2 * 256 * 10 * 4
    assert cost.xla_bytes_accessed == 3 * 16384 + 4 + (12 + 16384) + 4


def test_ragged_dot_is_counted_whole_by_us(count: Count) -> None:
    cost = count(
        """ENTRY e {
  a = f32[8,4] parameter(0)
  b = f32[3,4,5] parameter(1)
  c = s32[3] parameter(2)
  ROOT r = f32[8,5] ragged-dot(a, b, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}, \
lhs_ragged_dims={0}, rhs_group_dims={0}
}"""
    )
    assert cost.flops == 2 * 8 * 4 * 5


def test_an_opcode_without_a_rule_is_unknown_and_costs_the_rest_nothing(count: Count) -> None:
    cost = count(
        """ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] frobnicate(a)
  ROOT c = f32[8] add(a, b)
}"""
    )
    assert cost.flops == 8
    assert cost.unknown_ops == 1
    assert cost.xla_flops is None
    unknown = cost.instructions["e", "b"]
    assert (unknown.flops, unknown.grade) == (None, "guessed")
    assert unknown.note == "no rule for frobnicate"


@pytest.mark.parametrize(
    "instruction",
    [
        "f32[4] add(missing, p0)",
        "f32[4] dot(), lhs_contracting_dims={0}",
        "f32[4] dot(p0, p0), lhs_contracting_dims={7}",
        "f32[4] dynamic-slice(p0)",
        "f32[4] convolution(p0, p0), window={size=3}, dim_labels=b0f_0io",
        "f32[4] convolution(p0, p0), window={size=3 stride=0}, dim_labels=b0f_0io->b0f",
        "f32[4] dot(p0, p0), lhs_contracting_dims={99999999999999999999999}",
        "f32[?] add(p0, p0)",
        "f32[4] scatter(p0)",
        "f32[4] fusion(p0), kind=kLoop, calls=missing",
        "f32[4] map(p0), to_apply=missing",
    ],
)
def test_broken_instructions_are_unknown_or_nothing(count: Count, instruction: str) -> None:
    cost = count(f"ENTRY e {{\n  p0 = f32[4] parameter(0)\n  ROOT r = {instruction}\n}}")
    assert cost.flops == 0
    assert cost.bytes_accessed in {0, 32}
