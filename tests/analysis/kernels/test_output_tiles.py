"""Tiles of dots behind bitcasts and transposes of their fusions, held against launched blocks."""

from math import ceil, prod

import pytest
from tests.modules import parse_module

from xlareport.analysis.kernels.output_tiles import tile_of_dot

DOT = "f32[4,8000,40]{1,2,0} dot(%l, %r), lhs_batch_dims={0}, lhs_contracting_dims={1}, \
rhs_batch_dims={1}, rhs_contracting_dims={2}"
BITCAST = "ROOT %b = f32[4,40,8000]{2,1,0} bitcast(%d)"


def tile(after: str, sizes: tuple[int, ...], dot: str = DOT) -> tuple[int, ...]:
    text = (
        "HloModule m\n\n%gemm (l: bf16[4,512,8000], r: bf16[40,4,512]) -> f32[1] {\n"
        "  %l = bf16[4,512,8000]{2,1,0} parameter(0)\n  %r = bf16[40,4,512]{2,1,0} parameter(1)\n"
        f"  %d = {dot}\n  {after}\n}}\n"
    )
    module = parse_module(text)
    (computation,) = module.computations
    return tile_of_dot(computation, computation.by_name["d"], sizes)


def test_a_bitcast_keeps_the_order_in_memory() -> None:
    """XLA launches 10,000 blocks for this dot: 4 x 5 x 500."""
    sizes = tile(BITCAST, (1, 8, 16))
    assert sizes == (1, 16, 8)
    counts = (ceil(size / step) for size, step in zip((4, 8000, 40), sizes, strict=True))
    assert prod(counts) == 10_000


@pytest.mark.parametrize(
    ("after", "sizes", "expected"),
    [
        ("ROOT %t = f32[4,40,8000] transpose(%d), dimensions={0,2,1}", (1, 8, 16), (1, 16, 8)),
        ("ROOT %c = bf16[4,8000,40]{1,2,0} convert(%d)", (1, 8, 16), (1, 8, 16)),
        ("ROOT %b = f32[4,1,40,8000]{3,2,1,0} bitcast(%d)", (1, 1, 8, 16), (1, 16, 8)),
        ("ROOT %b = f32[160,8000]{1,0} bitcast(%d)", (8, 16), ()),
        ("ROOT %r = f32[4,8000] reduce(%d, %d), dimensions={2}", (1, 16), ()),
        (BITCAST, (8, 16), ()),
    ],
)
def test_other_roots(after: str, sizes: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert tile(after, sizes) == expected
