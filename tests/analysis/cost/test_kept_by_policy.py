"""What a policy of jax.checkpoint keeps is marked in the program before optimization."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.kept_by_policy import find_kept_by_policy
from xlareport.analysis.cost.stacked import StackedBuffer

BODY = "jit(f)/jvp()/while/body/closed_call"
MODULE = """HloModule m

ENTRY e {
  a = bf16[8,8] parameter(0)
  b = bf16[8,8] negate(a), metadata={op_name="bd,de->be/dot_general"}
  ROOT c = bf16[8,8] reduce-precision(b), exponent_bits=8, mantissa_bits=%d
}
"""


@pytest.mark.parametrize(
    ("mantissa", "shape", "stored", "count"),
    [
        (7, "bf16[4,8,8]{2,1,0}", f"{BODY}/bd,de->be/dot_general", 1),
        (7, "f32[4,8,8]{2,1,0}", f"{BODY}/bd,de->be/dot_general", 0),
        (7, "bf16[4,8,8]{2,1,0}", f"{BODY}/mul", 0),
        (3, "bf16[4,8,8]{2,1,0}", f"{BODY}/bd,de->be/dot_general", 0),
    ],
)
def test_a_value_is_kept_whose_rounding_changes_nothing(
    mantissa: int, shape: str, stored: str, count: int
) -> None:
    buffer = StackedBuffer("e", "w", 0, "i", shape, 512, 128, 4, "", "forward", stored)
    kept = find_kept_by_policy(parse_module((MODULE % mantissa).encode()), [buffer])
    assert kept == ((buffer,) * count)
    assert find_kept_by_policy(None, [buffer]) == ()
