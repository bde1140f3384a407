"""A generator whose numbers only a slice uses generates too many on every device."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.drawn_shares import find_drawn_shares

MODULE = """HloModule m

cut {
  p = u32[8,64] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  d = u32[2,64] dynamic-slice(p, i, z), dynamic_slice_sizes={2,64}
  ROOT n = u32[2,64] not(d)
}

ENTRY e {
  k = u64[2] parameter(0)
  i = s32[] parameter(1)
  r = u32[8,64] rng-bit-generator(k), algorithm=rng_default
  f = u32[2,64] fusion(r, i), kind=kLoop, calls=cut
  ROOT t = (u32[2,64], u32[%s]) tuple(f, %s)
}
"""


@pytest.mark.parametrize(("also", "shares"), [("f", {"r": "u32[2,64]"}), ("r", {})])
def test_only_a_slice_uses_the_numbers(also: str, shares: dict[str, str]) -> None:
    shape = "2,64" if also == "f" else "8,64"
    assert find_drawn_shares(parse_module((MODULE % (shape, also)).encode())) == shares
