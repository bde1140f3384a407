"""Constants that only dead instructions read, and that instructions were folded into."""

from collections.abc import Callable

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
ENTRY %main (a: s32[4]) -> s32[4] {
  %a = s32[4]{0} parameter(0)
  %low = s32[] constant(0)
  %high = s32[] constant(1)
  %five = s32[] constant(5)
  %clamp.1 = s32[] clamp(%low, %low, %high)
  %shift.1 = s32[] shift-left(%clamp.1, %five)
  %wide.1 = s32[4]{0} broadcast(%clamp.1), dimensions={}
  %wide.2 = s32[4]{0} broadcast(%shift.1), dimensions={}
  ROOT %out = s32[4]{0} add(%a, %wide.2)
}
"""
_AFTER = (
    _BEFORE.replace("  %clamp.1 = s32[] clamp(%low, %low, %high)\n", "  %c.1 = s32[] constant(0)\n")
    .replace("  %shift.1 = s32[] shift-left(%clamp.1, %five)\n", "  %c.2 = s32[] constant(0)\n")
    .replace("broadcast(%clamp.1)", "broadcast(%c.1)")
    .replace("broadcast(%shift.1)", "broadcast(%c.2)")
)


def test_what_was_folded_names_the_constant_that_a_dead_instruction_reads(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER), "`constant_folding`")
    folded = {row.before: row.after for row in change.changes if row.kind is Kind.FOLDED}
    assert folded == {
        Place("main", "clamp.1"): Place("main", "c.1"),
        Place("main", "shift.1"): Place("main", "c.2"),
    }
    words = " ".join((change.headline, *change.account))
    assert "was folded into `%c.1`" in words
    assert "dded" not in words
    assert sum(row.balance for row in change.changes) == 0
