"""Redirected operands that follow from merged duplicates have no row of their own."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (p: f32[8], q: f32[8]) -> (f32[8], f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %one.1 = f32[] constant(1)
  %one.2 = f32[] constant(1)
  %fill.1 = f32[8]{0} broadcast(%one.1), dimensions={}
  %fill.2 = f32[8]{0} broadcast(%one.2), dimensions={}
  %x = f32[8]{0} add(%p, %fill.1)
  %y = f32[8]{0} add(%q, %fill.2)
  %z = f32[8]{0} multiply(%q, %fill.2)
  ROOT %r = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%x, %y, %z)
}
"""


def test_a_user_of_a_merged_duplicate_is_no_change_of_its_own(read: Read) -> None:
    lines = _BEFORE.replace("%q, %fill.2", "%q, %fill.1").splitlines(keepends=True)
    after = "".join(line for line in lines if "%fill.2 =" not in line and "%one.2 =" not in line)
    change = step(read(_BEFORE), read(after))
    assert {row.kind for row in change.changes} == {Kind.MERGED}


def test_a_user_of_an_equal_instruction_beside_what_it_read_is_a_change(read: Read) -> None:
    after = _BEFORE.replace("add(%q, %fill.2)", "add(%q, %fill.1)")
    change = step(read(_BEFORE), read(after))
    assert [row.kind for row in change.changes] == [Kind.SHARED]
