"""The history of a fusion goes on with the heavy work that it was made for."""

from collections.abc import Callable

from xlareport.analysis.history.events import Event, HistoryEvent
from xlareport.analysis.history.heavy_fusions import is_heavy
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_DOT = """
ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %dot.1 = f32[8,8]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %end = f32[8,8]{1,0} negate(%dot.1)
}
"""
_FUSED = """
%inner (p: f32[8,8], q: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8]{1,0} parameter(0)
  %q = f32[8,8]{1,0} parameter(1)
  %dot.2 = f32[8,8]{1,0} dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %end.2 = f32[8,8]{1,0} negate(%dot.2)
}

ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  ROOT %fusion.1 = f32[8,8]{1,0} fusion(%a, %b), kind=kOutput, calls=%inner
}
"""
_NESTED = """
%outer (v: f32[8,8], w: f32[8,8]) -> f32[8,8] {
  %v = f32[8,8]{1,0} parameter(0)
  %w = f32[8,8]{1,0} parameter(1)
  %fusion.2 = f32[8,8]{1,0} fusion(%v, %w), kind=kOutput, calls=%inner
  ROOT %abs.1 = f32[8,8]{1,0} abs(%fusion.2)
}
"""
_FUSION = Place("main", "fusion.1")
_SECOND = "f32[8,8]{1,0} dot(%b, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def _events(read: Read, *texts: str) -> tuple[HistoryEvent, ...]:
    snapshots = SnapshotSequence([read(text) for text in texts])
    return history(snapshots, len(texts) - 1, _FUSION)


def test_a_fusion_with_a_dot_in_it_or_in_a_nested_one_is_heavy(read: Read) -> None:
    entry = _FUSED[_FUSED.index("\nENTRY") :].replace("calls=%inner", "calls=%outer")
    inner = _FUSED[: _FUSED.index("\nENTRY")]
    for text in (_FUSED, inner + _NESTED + entry):
        module = read(text)
        fusion = module.find(*_FUSION)
        assert fusion is not None
        assert is_heavy(module, fusion)
    module = read(_FUSED.replace("dot(%p, %q), lhs_contracting_dims={1}, rhs_", "add(%p, %q), "))
    fusion = module.find(*_FUSION)
    assert fusion is not None
    assert not is_heavy(module, fusion)


def test_a_fusion_goes_on_with_its_only_dot(read: Read) -> None:
    marked = _DOT.replace(
        "rhs_contracting_dims={0}", "rhs_contracting_dims={0}, sharding={replicated}"
    )
    events = _events(read, marked, _DOT, _FUSED)
    told = [(event.number, event.event, event.instruction.instruction) for event in events]
    assert told[:2] == [(0, Event.FIRST, "dot.1"), (1, Event.CHANGED, "dot.1")]
    assert (2, Event.CREATED, "fusion.1") in told


def test_of_two_it_goes_on_with_the_one_that_gives_the_result(read: Read) -> None:
    both = _DOT.replace("ROOT %end", f"%dot.7 = {_SECOND}\n  ROOT %end")
    inside = _SECOND.replace("%b, %a", "%q, %dot.2")
    last = both.replace("ROOT %end = f32[8,8]{1,0} negate(%dot.1)", "").replace(
        "%dot.7 = f32[8,8]{1,0} dot(%b, %a)", "ROOT %dot.7 = f32[8,8]{1,0} dot(%b, %dot.1)"
    )
    fused = _FUSED.replace("ROOT %end.2 = f32[8,8]{1,0} negate(%dot.2)", f"ROOT %dot.8 = {inside}")
    assert _events(read, last, fused)[0].instruction == Place("main", "dot.7")


def test_where_neither_gives_the_result_it_ends_with_the_fusion(read: Read) -> None:
    sum_of_both = f"%dot.7 = {_SECOND}\n  ROOT %end = f32[8,8]{{1,0}} subtract(%dot.1, %dot.7)"
    both = _DOT.replace("ROOT %end = f32[8,8]{1,0} negate(%dot.1)", sum_of_both)
    inside = sum_of_both.replace("%dot.7", "%dot.8").replace("%b, %a", "%q, %p")
    inside = inside.replace("%end", "%end.2").replace("%dot.1", "%dot.2")
    fused = _FUSED.replace("ROOT %end.2 = f32[8,8]{1,0} negate(%dot.2)", inside)
    events = _events(read, both, fused)
    assert events[0].event is Event.CREATED
    assert not [event for event in events if event.event is Event.FIRST]


_BESIDE = """
%inner (p: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8]{1,0} parameter(0)
  ROOT %sine = f32[8,8]{1,0} sine(%p)
}

ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %dot.1 = f32[8,8]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %fusion.1 = f32[8,8]{1,0} fusion(%dot.1), kind=kLoop, calls=%inner
}
"""
_TAKEN_IN = """
%inner (p: f32[8,8], q: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8]{1,0} parameter(0)
  %q = f32[8,8]{1,0} parameter(1)
  %dot.2 = f32[8,8]{1,0} dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %sine = f32[8,8]{1,0} sine(%dot.2)
}

ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  ROOT %fusion.1 = f32[8,8]{1,0} fusion(%a, %b), kind=kOutput, calls=%inner
}
"""


def test_a_fusion_that_takes_a_dot_in_has_the_events_of_the_dot(read: Read) -> None:
    numbers = "rhs_contracting_dims={0}"
    marked = _BESIDE.replace(numbers, f"{numbers}, sharding={{replicated}}")
    events = _events(read, marked, _BESIDE, _TAKEN_IN)
    told = [(event.number, event.event, event.instruction.instruction) for event in events]
    assert (2, Event.CHANGED, "fusion.1") in told
    assert (1, Event.CHANGED, "dot.1") in told
