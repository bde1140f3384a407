"""One step tells all converts that changed places with moves alike."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (x: bf16[2,3,4], y: bf16[8,4]) -> (f32[2,3,4], f32[2,12], f32[4,8]) {
  %x = bf16[2,3,4]{2,1,0} parameter(0)
  %y = bf16[8,4]{1,0} parameter(1)
  %c = f32[2,3,4]{2,1,0} convert(%x), metadata={op_name="a"}
  %t = f32[2,4,3]{2,1,0} transpose(%c), dimensions={0,2,1}
  %u = f32[2,4,3]{2,1,0} negate(%t)
  %c.1 = f32[2,3,4]{2,1,0} convert(%x), metadata={op_name="b"}
  %t.1 = f32[2,4,3]{2,1,0} transpose(%c.1), dimensions={0,2,1}
  %r.1 = f32[2,12]{1,0} reshape(%t.1)
  %u.1 = f32[2,12]{1,0} tanh(%r.1)
  %s = bf16[4,4]{1,0} slice(%y), slice={[0:4], [0:4]}
  %c.2 = f32[4,4]{1,0} convert(%s)
  %u.2 = f32[4,4]{1,0} cosine(%c.2)
  ROOT %out = (f32[2,4,3]{2,1,0}, f32[2,12]{1,0}, f32[4,4]{1,0}) tuple(%u, %u.1, %u.2)
}
"""
_AFTER = """
ENTRY %main (x: bf16[2,3,4], y: bf16[8,4]) -> (f32[2,3,4], f32[2,12], f32[4,8]) {
  %x = bf16[2,3,4]{2,1,0} parameter(0)
  %y = bf16[8,4]{1,0} parameter(1)
  %t.2 = bf16[2,4,3]{2,1,0} transpose(%x), dimensions={0,2,1}
  %convert.5 = f32[2,4,3]{2,1,0} convert(%t.2), metadata={op_name="a"}
  %u = f32[2,4,3]{2,1,0} negate(%convert.5)
  %t.3 = bf16[2,4,3]{2,1,0} transpose(%x), dimensions={0,2,1}
  %r.3 = bf16[2,12]{1,0} reshape(%t.3)
  %convert.6 = f32[2,12]{1,0} convert(%r.3), metadata={op_name="b"}
  %u.1 = f32[2,12]{1,0} tanh(%convert.6)
  %convert.7 = f32[8,4]{1,0} convert(%y)
  %s.1 = f32[4,4]{1,0} slice(%convert.7), slice={[0:4], [0:4]}
  %u.2 = f32[4,4]{1,0} cosine(%s.1)
  ROOT %out = (f32[2,4,3]{2,1,0}, f32[2,12]{1,0}, f32[4,4]{1,0}) tuple(%u, %u.1, %u.2)
}
"""


def test_all_converts_of_a_step_moved_where_one_did(read: Read) -> None:
    made = step(read(_BEFORE), read(_AFTER), "`convert-mover`")
    moved = [change for change in made.changes if change.kind is Kind.SWAPPED]
    assert {(str(c.before and c.before.instruction), str(c.reason)) for c in moved} == {
        ("c", "past %t"),
        ("c.1", "past %t.1"),
        ("c.2", "past %s"),
    }
    assert "moved 3 converts past other instructions" in made.headline


def test_a_move_that_passed_more_than_a_convert_is_what_moved(read: Read) -> None:
    lines = "  %v = f32[2,4,3]{2,1,0} sine(%t)\n  %u = f32[2,4,3]{2,1,0} negate(%v)\n"
    before = _BEFORE.replace("  %u = f32[2,4,3]{2,1,0} negate(%t)\n", lines)
    after = _AFTER.replace(
        """  %t.2 = bf16[2,4,3]{2,1,0} transpose(%x), dimensions={0,2,1}
  %convert.5 = f32[2,4,3]{2,1,0} convert(%t.2), metadata={op_name="a"}
  %u = f32[2,4,3]{2,1,0} negate(%convert.5)
""",
        """  %c = f32[2,3,4]{2,1,0} convert(%x), metadata={op_name="a"}
  %v.1 = f32[2,3,4]{2,1,0} sine(%c)
  %t.2 = f32[2,4,3]{2,1,0} transpose(%v.1), dimensions={0,2,1}
  %u = f32[2,4,3]{2,1,0} negate(%t.2)
""",
    )
    made = step(read(before), read(after), "`algsimp`")
    moved = {change.opcodes[0] for change in made.changes if change.kind is Kind.SWAPPED}
    assert "transpose" in moved
