from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.windows import WindowDimension, count_valid_positions, parse_window
from xlareport.analysis.cost.work import ModuleCost

Count: TypeAlias = Callable[[str], ModuleCost]

small = st.integers(1, 6)


def positions_one_by_one(window: WindowDimension, inputs: int, kernels: int, outputs: int) -> int:
    """Count as XLA's loop does: every kernel and output position in turn."""
    found = 0
    for kernel in range(kernels):
        for output in range(outputs):
            place = output * window.stride - window.pad_low + kernel * window.rhs_dilate
            found += place % window.lhs_dilate == 0 and 0 <= place // window.lhs_dilate < inputs
    return found


@given(
    stride=small,
    pad=st.integers(-3, 6),
    lhs_dilate=small,
    rhs_dilate=small,
    sizes=st.tuples(small, small, small),
)
def test_positions_are_those_of_the_plain_loop(
    stride: int, pad: int, lhs_dilate: int, rhs_dilate: int, sizes: tuple[int, int, int]
) -> None:
    window = WindowDimension(1, stride, pad, 0, lhs_dilate, rhs_dilate)
    assert count_valid_positions(window, *sizes) == positions_one_by_one(window, *sizes)


def test_a_huge_window_is_refused() -> None:
    with pytest.raises(UncountableError):
        count_valid_positions(WindowDimension(1), 10, 10**12, 10**12)


def test_a_window_is_read_with_its_defaults() -> None:
    window = parse_window("{size=3x1 stride=2x1 pad=1_2x-1_0 rhs_reversal=1x0}")
    assert window == (WindowDimension(3, 2, 1, 2), WindowDimension(1, 1, -1, 0))
    assert parse_window("") == ()


def test_convolution_flops(count: Count) -> None:
    cost = count(
        """ENTRY e {
  image = f32[8,28,28,1] parameter(0)
  kernel = f32[3,3,1,16] parameter(1)
  ROOT c = f32[8,28,28,16] convolution(image, kernel), window={size=3x3 pad=1_1x1_1}, \
dim_labels=b01f_01io->b01f
}"""
    )
    inner = (3 * 28 - 2) ** 2
    assert cost.flops == cost.xla_flops == 2 * 8 * 16 * inner
    assert cost.instructions["e", "c"].matrix_flops == (("f32", 2 * 8 * 16 * inner),)


def test_reduce_window_that_spreads_a_reduction(count: Count) -> None:
    body = (
        "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}"
    )
    cost = count(
        f"""{body}

ENTRY e {{
  a = f32[10,4] parameter(0)
  b = f32[] parameter(1)
  plain = f32[10,4] reduce-window(a, b), window={{size=3x1 pad=1_1x0_0}}, to_apply=add
  ROOT spread = f32[10,4] reduce-window(a, b), window={{size=19x1 pad=9_9x0_0}}, to_apply=add
}}"""
    )
    assert cost.instructions["e", "plain"].flops == 2 * 40
    assert cost.instructions["e", "spread"].flops == 40 // 10 + 9
