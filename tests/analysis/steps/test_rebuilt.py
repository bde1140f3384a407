"""What a pass made anew was neither renamed nor moved."""

from tests.modules import parse_module

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step

_SCHEDULED = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0), metadata={scheduling_name="a"}
  %b = f32[8]{0} parameter(1), metadata={scheduling_name="b"}
  %sine = f32[8]{0} sine(%b), metadata={scheduling_name="sine"}
  %copy.1 = f32[8]{0} copy(%a), metadata={scheduling_name="copy.1"}
  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%sine, %copy.1), metadata={scheduling_name="t"}
}
"""


def _moved(copy: str) -> str:
    """Return the module with a copy as its line is given, before the sine."""
    lines = [line for line in _SCHEDULED.splitlines() if "%copy.1 =" not in line]
    lines.insert(4, f"  {copy}")
    return "\n".join(lines).replace("%copy.1)", "%copy.2)")


def test_a_copy_without_the_mark_of_the_scheduler_was_made_anew() -> None:
    change = step(parse_module(_SCHEDULED), parse_module(_moved("%copy.2 = f32[8]{0} copy(%a)")))
    [row] = change.changes
    assert (row.kind, row.before) == (Kind.REBUILT, Place("main", "copy.1"))
    assert str(row.details[0]) == 'metadata: {scheduling_name="copy.1"} → none'


def test_a_copy_that_has_the_mark_was_only_renamed_and_moved() -> None:
    line = '%copy.2 = f32[8]{0} copy(%a), metadata={scheduling_name="copy.1"}'
    change = step(parse_module(_SCHEDULED), parse_module(_moved(line)))
    assert [row.kind for row in change.changes] == [Kind.REORDERED]
    assert change.renumbered == 1
