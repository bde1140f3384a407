"""Which values an instruction reads, behind what only moves data."""

import pytest
from tests.analysis.small_modules import modules

from xlareport.analysis.steps.sources import reads_other_values
from xlareport.analysis.steps.step import step

_SHARED = """\
  %s = f32[8,4]{1,0} sine(%x)
  %e = f32[8,4]{1,0} exponential(%x)
  %y = f32[8,4]{1,0} subtract(%s, %e)
  ROOT %d = (f32[8,4]{1,0}, f32[8,4]{1,0}) tuple(%y, %s)"""
_CLONED = """\
  %s = f32[8,4]{1,0} sine(%x)
  %e = f32[8,4]{1,0} exponential(%x)
  %m = f32[8,4]{1,0} negate(%e)
  %c = f32[8,4]{1,0} OPCODE(%x)
  %t = f32[8,4]{1,0} copy(%c)
  %y = f32[8,4]{1,0} subtract(%t, %e)
  ROOT %d = (f32[8,4]{1,0}, f32[8,4]{1,0}) tuple(%y, %s)"""


@pytest.mark.parametrize("opcode", ["sine", "cosine"])
def test_a_clone_is_the_same_value_and_another_operation_is_not(opcode: str) -> None:
    before, after = modules(_SHARED, _CLONED.replace("OPCODE", opcode))
    old, new = before.find("main", "y"), after.find("main", "y")
    matching = step(before, after).matching
    assert old is not None
    assert new is not None
    assert matching is not None
    assert reads_other_values(old, new, "main", "main", matching) is (opcode == "cosine")


def test_a_slice_of_a_convert_is_the_convert_of_the_slice() -> None:
    sliced = (
        "  %p = bf16[8,4]{1,0} convert(%x)\n  %s = bf16[2,4]{1,0} slice(%p), slice={[0:2], [0:4]}\n"
        "  %c = f32[2,4]{1,0} convert(%s)\n  ROOT %y = f32[2,4]{1,0} multiply(%c, %c)"
    )
    converted = (
        "  %p = bf16[8,4]{1,0} convert(%x)\n  %d = f32[8,4]{1,0} convert(%p)\n"
        "  %t = f32[2,4]{1,0} slice(%d), slice={[0:2], [0:4]}\n"
        "  ROOT %y = f32[2,4]{1,0} multiply(%t, %t)"
    )
    before, after = modules(sliced, converted)
    old, new = before.find("main", "y"), after.find("main", "y")
    matching = step(before, after).matching
    assert old is not None
    assert new is not None
    assert matching is not None
    assert not reads_other_values(old, new, "main", "main", matching)
