from collections.abc import Callable

import pytest

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, ancestors, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

BEFORE = """
ENTRY %main (a: f32[8], b: f32[4]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %zero = f32[] constant(0)
  %wide = f32[8]{0} pad(%b, %zero), padding=0_4
  %sum = f32[8]{0} add(%a, %wide)
  ROOT %sine = f32[8]{0} sine(%sum)
}
"""
NESTED = """
%inner (p: f32[4]) -> f32[8] {
  %p = f32[4]{0} parameter(0)
  %zero.1 = f32[] constant(0)
  ROOT %wide.1 = f32[8]{0} pad(%p, %zero.1), padding=0_4
}

%outer (q: f32[8], r: f32[4]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %r = f32[4]{0} parameter(1)
  %pad_fusion = f32[8]{0} fusion(%r), kind=kLoop, calls=%inner
  %sum.1 = f32[8]{0} add(%q, %pad_fusion)
  ROOT %sine.1 = f32[8]{0} sine(%sum.1)
}

ENTRY %main (a: f32[8], b: f32[4]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  ROOT %fusion = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%outer
}
"""
FUSION = Place("main", "fusion")
SOURCES = {Place("main", name) for name in ("zero", "wide", "sum", "sine")}


def made_of(before: HloModule, after: HloModule) -> Pairing:
    pairing = match(before, after).pairing_after(FUSION)
    assert pairing is not None
    assert pairing.relation is Relation.FUSED
    return pairing


def test_what_nested_fusions_hold_is_counted(read: Read) -> None:
    pairing = made_of(read(BEFORE), read(NESTED))
    assert (pairing.grade, pairing.reason) == (Grade.EXACT, "fuses 4 instructions")
    assert set(pairing.before) == SOURCES


def test_what_nested_fusions_hold_is_an_origin(read: Read) -> None:
    snapshots = SnapshotSequence([read(BEFORE), read(NESTED)])
    assert set(ancestors(snapshots, 1, [FUSION])) == SOURCES - {Place("main", "zero")}


def test_a_fusion_with_something_new_in_it_is_not_exact(read: Read) -> None:
    more = NESTED.replace(
        "ROOT %sine.1 = f32[8]{0} sine(%sum.1)",
        "%sine.1 = f32[8]{0} sine(%sum.1)\n  ROOT %new = f32[8]{0} negate(%sine.1)",
    )
    pairing = made_of(read(BEFORE), read(more))
    assert (pairing.grade, pairing.reason) == (Grade.MATCHED, "fuses 4 instructions and 1 new")


def test_of_merged_constants_the_fusion_has_a_copy_of_what_its_instructions_read(
    read: Read,
) -> None:
    both = "(f32[8], f32[8], f32[8]) {"
    other = "  %longer = f32[8]{0} pad(%b, %nought), padding=4_0\n"
    other += "  %kept = f32[8]{0} pad(%b, %zero), padding=2_2\n"
    out = "(f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%sine, %longer, %kept)"
    before = BEFORE.replace("f32[8] {", both).replace(
        "  ROOT %sine =", f"  %nought = f32[] constant(0)\n{other}  %sine ="
    )
    before = before.replace("\n}", f"\n  ROOT %out = {out}\n}}")
    first, _, entry = NESTED.partition("ENTRY")
    entry = entry.replace("f32[8] {", both).replace("  ROOT %fusion =", "  %fusion =")
    kept = f"\n  %zero = f32[] constant(0)\n{other}  ROOT %out = {out}\n}}"
    entry = entry.replace("\n}", kept).replace("%nought", "%zero").replace("%sine", "%fusion")
    pairing = made_of(read(before), read(f"{first}ENTRY{entry}"))
    assert set(pairing.before) == SOURCES


TWICE = NESTED.replace(
    "%sum.1 = f32[8]{0} add(%q, %pad_fusion)",
    "%zero.2 = f32[] constant(0)\n  %wide.2 = f32[8]{0} pad(%r, %zero.2), padding=0_4\n  "
    "%sum.1 = f32[8]{0} add(%q, %wide.2)",
).replace("sine(%sum.1)", "add(%sum.1, %pad_fusion)")
READ_TWICE = BEFORE.replace("sine(%sum)", "add(%sum, %wide)")


@pytest.mark.parametrize(("before", "after"), [(READ_TWICE, TWICE)])
def test_copies_in_one_fusion_are_told(read: Read, before: str, after: str) -> None:
    pairing = made_of(read(before), read(after))
    assert pairing.reason == "fuses 4 instructions, as 6 (copies)"


def test_a_former_fusion_inside_another_is_named_with_what_it_held(read: Read) -> None:
    larger = NESTED.replace("%outer (", "%more (").replace("calls=%outer", "calls=%more")
    larger = larger.replace("%fusion = ", "%loop_fusion = ").replace(
        "ROOT %loop_fusion", "%loop_fusion"
    )
    former = larger.rstrip().removesuffix("}") + "  ROOT %tan = f32[8]{0} tan(%loop_fusion)\n}\n"
    after = NESTED.replace(
        "ROOT %sine.1 = f32[8]{0} sine(%sum.1)",
        "%sine.1 = f32[8]{0} sine(%sum.1)\n  ROOT %tan.1 = f32[8]{0} tan(%sine.1)",
    )
    pairing = made_of(read(former), read(after))
    assert {place.instruction for place in pairing.before} >= {"loop_fusion", "tan", "wide.1"}
    assert pairing.reason == "fuses 5 instructions and 2 fusions"
    assert len(pairing.before) == 5 + 2


OUTPUT = """
%fused.1 (p.1: f32[8]) -> f32[8] {
  %p.1 = f32[8]{0} parameter(0)
  %abs.1 = f32[8]{0} abs(%p.1)
  ROOT %sine.1 = f32[8]{0} sine(%abs.1)
}

%fused.2 (p.2: f32[8]) -> f32[8] {
  %p.2 = f32[8]{0} parameter(0)
  %tan.2 = f32[8]{0} tan(%p.2)
  ROOT %cosine.2 = f32[8]{0} cosine(%tan.2)
}

ENTRY %main (a: f32[8]) -> (f32[8], f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %fusion = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused.1
  %fusion.2 = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused.2
  %log = f32[8]{0} log(%a)
  ROOT %out = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%fusion, %fusion.2, %log)
}
"""
OUTPUTS = """
%fused.1 (p.1: f32[8]) -> (f32[8], f32[8], f32[8]) {
  %p.1 = f32[8]{0} parameter(0)
  %abs.1 = f32[8]{0} abs(%p.1)
  %sine.1 = f32[8]{0} sine(%abs.1)
  %tan.2 = f32[8]{0} tan(%p.1)
  %cosine.2 = f32[8]{0} cosine(%tan.2)
  %log.1 = f32[8]{0} log(%p.1)
  ROOT %all = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%sine.1, %cosine.2, %log.1)
}

ENTRY %main (a: f32[8]) -> (f32[8], f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %fusion = (f32[8]{0}, f32[8]{0}, f32[8]{0}) fusion(%a), kind=kLoop, calls=%fused.1
  %get.0 = f32[8]{0} get-tuple-element(%fusion), index=0
  %get.1 = f32[8]{0} get-tuple-element(%fusion), index=1
  %get.2 = f32[8]{0} get-tuple-element(%fusion), index=2
  ROOT %out = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%get.0, %get.1, %get.2)
}
"""
TAKEN_IN = {("main", "fusion.2"), ("fused.2", "tan.2"), ("fused.2", "cosine.2"), ("main", "log")}


def test_a_fusion_that_goes_on_tells_of_what_it_takes_in(read: Read) -> None:
    pairing = match(read(OUTPUT), read(OUTPUTS)).pairing_after(FUSION)
    assert pairing is not None
    assert pairing.before == (FUSION,)
    assert set(pairing.taken_in) == TAKEN_IN
    assert pairing.taken_in[0] == Place("main", "fusion.2")


def test_what_a_fusion_takes_in_is_in_its_history(read: Read) -> None:
    snapshots = SnapshotSequence([read(OUTPUT), read(OUTPUTS)])
    assert set(ancestors(snapshots, 1, [FUSION])) == {FUSION, *TAKEN_IN}
    (event,) = (event for event in history(snapshots, 1, FUSION) if event.event is Event.CHANGED)
    assert event.reason.endswith("; also holds %fusion.2, %log now, with 2 instructions inside")
    assert set(event.sources) == {FUSION, *TAKEN_IN}


def test_a_fusion_that_only_changes_takes_nothing_in(read: Read) -> None:
    changed = OUTPUT.replace("sine(%abs.1)", "sine(%new.1)").replace(
        "  ROOT %sine.1", "  %new.1 = f32[8]{0} negate(%abs.1)\n  ROOT %sine.1"
    )
    matching = match(read(OUTPUT), read(changed))
    assert not any(pairing.taken_in for pairing in matching.pairings)
