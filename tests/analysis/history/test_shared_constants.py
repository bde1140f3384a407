"""The ends of instructions that leave constants behind, which passes merge with others."""

from tests.analysis.history.six_snapshots import Read

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.shared_constants import without_constants
from xlareport.analysis.history.subjects import Subject
from xlareport.analysis.history.trace import trace_subject
from xlareport.analysis.matching.search.pairing import Place

_CALLED = """
%update (x: f32[8], y: f32[2]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[2]{0} parameter(1)
  %two = s32[] constant(2)
  %one = s32[] constant(1)
  %index = s32[] add(%two, %one)
  ROOT %dus = f32[8]{0} dynamic-update-slice(%x, %y, %index)
}

ENTRY %main (a: f32[8], b: f32[2]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[2]{0} parameter(1)
  ROOT %call = f32[8]{0} call(%a, %b), to_apply=%update
}
"""
_INLINED = """
ENTRY %main (a: f32[8], b: f32[2]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[2]{0} parameter(1)
  %two = s32[] constant(2)
  %one = s32[] constant(1)
  %index = s32[] add(%two, %one)
  ROOT %dus = f32[8]{0} dynamic-update-slice(%a, %b, %index)
}
"""
_FOLDED = """
ENTRY %main (a: f32[8], b: f32[2]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[2]{0} parameter(1)
  %index = s32[] constant(3)
  ROOT %dus = f32[8]{0} dynamic-update-slice(%a, %b, %index)
}
"""


def test_an_index_that_was_folded_is_no_end_of_what_was_inlined(read: Read) -> None:
    shots = SnapshotSequence([read(text) for text in (_CALLED, _INLINED, _FOLDED)])
    trace = trace_subject(shots, Subject("call", 0, (Place("main", "call"),)))
    assert [state.place.instruction for state in trace.now] == ["dus"]


def test_where_only_constants_are_left_they_are_the_ends(read: Read) -> None:
    module, index = read(_FOLDED), Place("main", "index")
    assert without_constants(module, (index,)) == (index,)
    assert without_constants(module, (index, Place("main", "dus"))) == [Place("main", "dus")]
