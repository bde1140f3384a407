"""The trails of instructions back to a subject."""

from tests.analysis.history.six_snapshots import Read

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, TrailPoint
from xlareport.analysis.history.subjects import Subject
from xlareport.analysis.history.trace import trace_subject
from xlareport.analysis.history.trails import anchors_of, events_to
from xlareport.analysis.matching.search.pairing import Place

_CALLED = """
%f (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %n = f32[8]{0} negate(%p)
  ROOT %e = f32[8]{0} exponential(%n)
}

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %same = f32[8]{0} negate(%a), metadata={op_name="jit(g)/other"}
  %t = f32[8]{0} tanh(%same)
  %call.1 = f32[8]{0} call(%a), to_apply=%f
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%t, %call.1)
}
"""
_INLINED = """
ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %renamed = f32[8]{0} negate(%a), metadata={op_name="jit(g)/other"}
  %t = f32[8]{0} tanh(%renamed)
  %n.2 = f32[8]{0} negate(%a)
  %e.2 = f32[8]{0} exponential(%n.2)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%t, %e.2)
}
"""
_MERGED = _INLINED.replace("  %n.2 = f32[8]{0} negate(%a)\n", "").replace("(%n.2)", "(%renamed)")


def test_what_a_part_is_merged_with_later_has_no_earlier_events_in_the_trace(read: Read) -> None:
    known = SnapshotSequence([read(text) for text in (_CALLED, _INLINED, _MERGED)])
    trace = trace_subject(known, Subject("", 0, (Place("main", "call.1"),)))
    assert {row.place.instruction for row in trace.now} == {"renamed", "e.2"}
    told = [(event.number, event.event) for event in trace.events]
    assert (1, Event.INLINED) in told
    assert (2, Event.MERGED) in told
    named = {place.instruction for event in trace.events for place in event.sources}
    assert "same" not in named


def test_no_trail_leads_from_what_a_subject_never_was(read: Read) -> None:
    known = SnapshotSequence([read(text) for text in (_CALLED, _INLINED, _MERGED)])
    anchors = anchors_of(0, [Place("main", "t")], ())
    assert anchors == {Place("main", "t"): 0}
    apart = set[TrailPoint]()
    assert events_to(known, 2, Place("main", "e.2"), anchors, apart) is None
    assert {place.instruction for _, place in apart} == {"e", "e.2"}
    assert events_to(known, 2, Place("main", "e.2"), anchors, apart) is None
    own = events_to(known, 2, Place("main", "t"), anchors, apart)
    assert own is not None
    assert [event for event in own if event.event is not Event.FIRST] == []
