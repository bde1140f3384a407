"""Which places a history goes on with, where computations are cloned and originals are left."""

from collections.abc import Callable

from xlareport.analysis.history.continued import is_in_continued_computation, without_left
from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_FUSED = """
%fused (p: f32[64,8]) -> f32[8,64] {
  %p = f32[64,8]{1,0} parameter(0)
  %wave = f32[64,8]{1,0} sine(%p)
  ROOT %turned = f32[8,64]{1,0} transpose(%wave), dimensions={1,0}
}
"""
_PLAIN = (
    "HloModule m\n"
    + _FUSED
    + """
ENTRY %main (a: f32[64,8]) -> f32[8,64] {
  %a = f32[64,8]{1,0} parameter(0)
  %turned.fusion = f32[8,64]{1,0} fusion(%a), kind=kCustom, calls=%fused
  ROOT %out = f32[8,64]{1,0} negate(%turned.fusion)
}
"""
)
_ASYNC = (
    "HloModule m\n"
    + _FUSED
    + """
%fused.clone (p.1: f32[64,8]) -> f32[8,64] {
  %p.1 = f32[64,8]{1,0} parameter(0)
  %wave.1 = f32[64,8]{1,0} sine(%p.1)
  ROOT %turned.1 = f32[8,64]{1,0} transpose(%wave.1), dimensions={1,0}
}

%called (q: f32[64,8]) -> f32[8,64] {
  %q = f32[64,8]{1,0} parameter(0)
  ROOT %offload = f32[8,64]{1,0} fusion(%q), kind=kCustom, calls=%fused.clone
}

ENTRY %main (a: f32[64,8]) -> f32[8,64] {
  %a = f32[64,8]{1,0} parameter(0)
  %start = ((f32[64,8]{1,0}), f32[8,64]{1,0}, u32[]) async-start(%a), calls=%called
  %done = f32[8,64]{1,0} async-done(%start)
  ROOT %out = f32[8,64]{1,0} negate(%done)
}
"""
)
_WAVE = Place("fused", "wave")
_NEW_WAVE = Place("fused.clone", "wave.1")


def test_a_fusion_that_goes_on_with_a_clone_of_its_computation_fuses_nothing(read: Read) -> None:
    """An offloaded fusion has a new computation; the old one stands on without calls."""
    before, after = read(_PLAIN), read(_ASYNC)
    matching = match(before, after)
    assert matching.partner_before(_NEW_WAVE) == _WAVE
    assert is_in_continued_computation(matching, _WAVE, _NEW_WAVE)
    events = history(SnapshotSequence([before, after]), 1, _NEW_WAVE)
    assert [event.event for event in events] == [Event.FIRST, Event.RENAMED, Event.LAST]


def test_a_fusion_that_combines_two_continues_neither(read: Read) -> None:
    before, after = read(_PLAIN), read(_ASYNC)
    former, holder = Place("main", "turned.fusion"), Place("called", "offload")
    pairing = Pairing((former,), (holder,), Grade.MATCHED, "", Relation.SAME)
    alone = Matching(before, after, {}, (pairing,))
    assert is_in_continued_computation(alone, _WAVE, _NEW_WAVE)
    pairing.before = (former, Place("main", "out"))
    together = Matching(before, after, {}, (pairing,))
    assert not is_in_continued_computation(together, _WAVE, _NEW_WAVE)


def test_a_fusion_that_was_merged_into_another_does_not_go_on(read: Read) -> None:
    """What it held was fused into the other one."""
    former, holder = Place("main", "turned.fusion"), Place("called", "offload")
    pairing = Pairing((former,), (holder,), Grade.EXACT, "", Relation.ABSORBED)
    merged = Matching(read(_PLAIN), read(_ASYNC), {}, (pairing,))
    assert not is_in_continued_computation(merged, _WAVE, _NEW_WAVE)


def test_several_copies_of_what_is_left_without_users_are_clones() -> None:
    """One that takes over from the original replaces it; more than one are its clones."""
    old, new, other = Place("f", "x"), Place("f.1", "x.1"), Place("f.2", "x.2")
    pairing = Pairing((old,), (new, old, other), Grade.MATCHED, "", Relation.CLONED)
    kept = without_left(pairing)
    assert (kept.after, kept.relation) == ((new, other), Relation.CLONED)
    pairing.after = (new, old)
    assert without_left(pairing).relation is Relation.REPLACED
    pairing.after = (old, new)
    assert without_left(pairing) is pairing
