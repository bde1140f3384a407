from collections.abc import Callable

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.changes import changes
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

APART = """
%fused (param_0.1: f32[64,32]) -> f32[64] {
  %param_0.1 = f32[64,32]{1,0} parameter(0)
  %mul.3 = f32[64,32]{1,0} multiply(%param_0.1, %param_0.1)
  %constant.1 = f32[] constant(0)
  ROOT %reduce.4 = f32[64]{0} reduce(%mul.3, %constant.1), dimensions={1}, to_apply=%s
}

%fused.1 (param_0.2: f32[64,32]) -> f32[64] {
  %param_0.2 = f32[64,32]{1,0} parameter(0)
  %abs.3 = f32[64,32]{1,0} abs(%param_0.2)
  %constant.2 = f32[] constant(0)
  ROOT %reduce.5 = f32[64]{0} reduce(%abs.3, %constant.2), dimensions={1}, to_apply=%s
}

%s (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (a: f32[64,32]) -> (f32[64], f32[64]) {
  %a = f32[64,32]{1,0} parameter(0)
  %multiply_reduce_fusion = f32[64]{0} fusion(%a), calls=%fused
  %multiply_reduce_fusion.1 = f32[64]{0} fusion(%a), calls=%fused.1
  ROOT %out = (f32[64]{0}, f32[64]{0}) tuple(%multiply_reduce_fusion, %multiply_reduce_fusion.1)
}
"""
TOGETHER = """
%fused (param_0.1: f32[64,32]) -> (f32[64], f32[64]) {
  %param_0.1 = f32[64,32]{1,0} parameter(0)
  %mul.3 = f32[64,32]{1,0} multiply(%param_0.1, %param_0.1)
  %constant.1 = f32[] constant(0)
  %reduce.4 = f32[64]{0} reduce(%mul.3, %constant.1), dimensions={1}, to_apply=%s
  %abs.3.clone.1 = f32[64,32]{1,0} abs(%param_0.1)
  %c.1 = f32[] constant(0)
  %r.1 = f32[64]{0} reduce(%abs.3.clone.1, %c.1), dimensions={1}, to_apply=%s
  ROOT %tuple = (f32[64]{0}, f32[64]{0}) tuple(%reduce.4, %r.1)
}

%s (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (a: f32[64,32]) -> (f32[64], f32[64]) {
  %a = f32[64,32]{1,0} parameter(0)
  %multiply_reduce_fusion = (f32[64]{0}, f32[64]{0}) fusion(%a), calls=%fused
  %get-tuple-element = f32[64]{0} get-tuple-element(%multiply_reduce_fusion), index=0
  %get-tuple-element.1 = f32[64]{0} get-tuple-element(%multiply_reduce_fusion), index=1
  ROOT %out = (f32[64]{0}, f32[64]{0}) tuple(%get-tuple-element, %get-tuple-element.1)
}
"""


def at(name: str) -> Place:
    return Place("main", name)


def test_a_fusion_that_became_a_second_output_was_merged_into_the_other(read: Read) -> None:
    matching = match(read(APART), read(TOGETHER))
    said = matching.pairing_before(at("multiply_reduce_fusion.1"))
    assert said is not None
    assert (said.relation, said.grade) == (Relation.ABSORBED, Grade.EXACT)
    assert said.after == (at("multiply_reduce_fusion"),)
    assert said.reason == "holds 3 of its 3 instructions"
    here = at("multiply_reduce_fusion")
    assert (matching.partner_after(here), matching.partner_before(here)) == (here, here)


def test_the_history_of_a_merged_fusion_goes_on_with_the_one_that_holds_it(read: Read) -> None:
    snapshots = SnapshotSequence([read(APART), read(TOGETHER)])
    events = history(snapshots, 0, at("multiply_reduce_fusion.1"))
    assert [one.event for one in events] == [Event.FIRST, Event.ABSORBED, Event.LAST]
    assert events[-1].instruction == at("multiply_reduce_fusion")


def test_two_fusions_that_became_a_new_one_are_its_members(read: Read) -> None:
    new = TOGETHER.replace("%multiply_reduce_fusion", "%input_fusion")
    new = new.replace("%fused", "%fused.7")
    told = [
        change for change in changes(match(read(APART), read(new))) if change.kind is Kind.FUSED
    ]
    assert [change.after for change in told] == [at("input_fusion")]
    former = {at("multiply_reduce_fusion"), at("multiply_reduce_fusion.1")}
    assert set(told[0].members) == former


def test_a_fusion_of_which_most_stands_outside_was_taken_apart(read: Read) -> None:
    after = APART.replace(
        "%multiply_reduce_fusion.1 = f32[64]{0} fusion(%a), calls=%fused.1",
        "%abs.9 = f32[64,32]{1,0} abs(%a)\n  %zero = f32[] constant(0)\n  "
        "%reduce.9 = f32[64]{0} reduce(%abs.9, %zero), dimensions={1}, to_apply=%s",
    ).replace(
        "%multiply_reduce_fusion, %multiply_reduce_fusion.1", "%multiply_reduce_fusion, %reduce.9"
    )
    said = match(read(APART), read(after)).pairing_before(at("multiply_reduce_fusion.1"))
    assert said is not None
    assert said.relation is Relation.INLINED
    assert set(said.after) == {at("abs.9"), at("zero"), at("reduce.9")}


_NEST = """
%fused.9 (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %sine.9 = f32[8]{0} sine(%q)
  ROOT %abs.9 = f32[8]{0} abs(%sine.9)
}

%fused.1 (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %inner.1 = f32[8]{0} fusion(%p), kind=kLoop, calls=%fused.9
  ROOT %tanh.1 = f32[8]{0} tanh(%inner.1)
}

%fused.2 (r: f32[8]) -> f32[8] {
  %r = f32[8]{0} parameter(0)
  ROOT %exp.2 = f32[8]{0} exponential(%r)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %first = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused.1
  ROOT %second = f32[8]{0} fusion(%first), kind=kLoop, calls=%fused.2
}
"""
_NEST_MERGED = """
%fused.8 (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %sine.9 = f32[8]{0} sine(%q)
  ROOT %abs.9 = f32[8]{0} abs(%sine.9)
}

%fused.2 (r: f32[8]) -> f32[8] {
  %r = f32[8]{0} parameter(0)
  %inner.2 = f32[8]{0} fusion(%r), kind=kLoop, calls=%fused.8
  %tanh.2 = f32[8]{0} tanh(%inner.2)
  ROOT %exp.2 = f32[8]{0} exponential(%tanh.2)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %second = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused.2
}
"""


def test_a_fusion_was_merged_into_the_one_beside_it_and_not_into_one_nested_there(
    read: Read,
) -> None:
    pairing = match(read(_NEST), read(_NEST_MERGED)).pairing_before(at("first"))
    assert pairing is not None
    assert pairing.relation is Relation.ABSORBED
    assert pairing.after == (at("second"),)
    assert pairing.reason == "holds 3 of its 3 instructions"


_CALLED = """
%g (x: f32[8], k: f32[8,8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %k = f32[8,8]{1,0} parameter(1)
  %sine.1 = f32[8]{0} sine(%x)
  %abs.1 = f32[8]{0} abs(%sine.1)
  %dot.1 = f32[8]{0} dot(%abs.1, %k), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  %tanh.1 = f32[8]{0} tanh(%dot.1)
  ROOT %exp.1 = f32[8]{0} exponential(%tanh.1)
}

ENTRY %main (a: f32[8], b: f32[8,8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %call = f32[8]{0} call(%a, %b), to_apply=%g
  ROOT %neg = f32[8]{0} negate(%call)
}
"""
_SCATTERED = """
%fused.1 (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %sine.2 = f32[8]{0} sine(%q)
  ROOT %abs.2 = f32[8]{0} abs(%sine.2)
}

%fused.2 (r: f32[8]) -> f32[8] {
  %r = f32[8]{0} parameter(0)
  %tanh.2 = f32[8]{0} tanh(%r)
  %exp.2 = f32[8]{0} exponential(%tanh.2)
  ROOT %neg.2 = f32[8]{0} negate(%exp.2)
}

ENTRY %main (a: f32[8], b: f32[8,8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %first = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused.1
  %dot.2 = f32[8]{0} dot(%first, %b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT %second = f32[8]{0} fusion(%dot.2), kind=kLoop, calls=%fused.2
}
"""


def test_a_call_of_which_no_fusion_holds_most_is_only_inlined(read: Read) -> None:
    pairing = match(read(_CALLED), read(_SCATTERED)).pairing_before(at("call"))
    assert pairing is not None
    assert pairing.relation is Relation.INLINED
    assert pairing.reason == "no single fusion holds most of it"


CALLED = """
%both (p: f32[8]) -> (f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %sine.1 = f32[8]{0} sine(%p)
  %cosine.1 = f32[8]{0} cosine(%sine.1)
  ROOT %tuple.1 = (f32[8]{0}, f32[8]{0}) tuple(%sine.1, %cosine.1)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %call.1 = (f32[8]{0}, f32[8]{0}) call(%a), to_apply=%both
  %get.1 = f32[8]{0} get-tuple-element(%call.1), index=0
  %get.2 = f32[8]{0} get-tuple-element(%call.1), index=1
  ROOT %add.1 = f32[8]{0} add(%get.1, %get.2)
}
"""
IN_PLACE = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %sine.2 = f32[8]{0} sine(%a)
  %cosine.2 = f32[8]{0} cosine(%sine.2)
  %tuple.2 = (f32[8]{0}, f32[8]{0}) tuple(%sine.2, %cosine.2)
  %get.1 = f32[8]{0} get-tuple-element(%tuple.2), index=0
  %get.2 = f32[8]{0} get-tuple-element(%tuple.2), index=1
  ROOT %add.1 = f32[8]{0} add(%get.1, %get.2)
}
"""


def test_the_tuple_of_a_call_is_among_the_instructions_it_was_inlined_into(read: Read) -> None:
    matching = match(read(CALLED), read(IN_PLACE))
    known = matching.pairing_before(at("call.1"))
    assert known is not None
    assert (known.relation, known.grade) == (Relation.INLINED, Grade.EXACT)
    assert known.after == (at("sine.2"), at("cosine.2"), at("tuple.2"))
    assert known.reason == "into 3 instructions"


def test_a_tuple_that_went_with_its_call_is_not_counted(read: Read) -> None:
    text = IN_PLACE.replace("get-tuple-element(%tuple.2), index=0", "copy(%sine.2)")
    text = text.replace("get-tuple-element(%tuple.2), index=1", "copy(%cosine.2)")
    without = "\n".join(line for line in text.splitlines() if "%tuple.2 =" not in line)
    known = match(read(CALLED), read(without)).pairing_before(at("call.1"))
    assert known is not None
    assert known.after == (at("sine.2"), at("cosine.2"))


def test_the_tuples_of_a_call_within_a_call_belong_to_both(read: Read) -> None:
    outer = CALLED.replace(
        "ENTRY %main (a: f32[8]) -> f32[8] {\n  %a", "%all (a: f32[8]) -> f32[8] {\n  %a"
    )
    entry = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %call.2 = f32[8]{0} call(%a), to_apply=%all
  ROOT %tanh.2 = f32[8]{0} tanh(%call.2)
}
"""
    flat = IN_PLACE.replace("ROOT %add.1 =", "%add.1 =").replace(
        "(%get.1, %get.2)", "(%get.1, %get.2)\n  ROOT %tanh.2 = f32[8]{0} tanh(%add.1)"
    )
    matching = match(read(outer + entry), read(flat))
    inner = matching.pairing_before(Place("all", "call.1"))
    whole = matching.pairing_before(at("call.2"))
    assert inner is not None
    assert whole is not None
    assert (inner.reason, whole.reason) == ("into 3 instructions", "into 6 instructions")


def test_instructions_of_a_call_within_a_call_are_counted_once(read: Read) -> None:
    inner = """
%sines (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %sine.0 = f32[8]{0} sine(%q)
  ROOT %tanh.0 = f32[8]{0} tanh(%sine.0)
}
"""
    outer = """
%all (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %call.2 = f32[8]{0} call(%p), to_apply=%sines
  ROOT %cosine.1 = f32[8]{0} cosine(%call.2)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %call.1 = f32[8]{0} call(%a), to_apply=%all
  ROOT %add.1 = f32[8]{0} add(%call.1, %a)
}
"""
    flat = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %sine.2 = f32[8]{0} sine(%a)
  %tanh.2 = f32[8]{0} tanh(%sine.2)
  %cosine.2 = f32[8]{0} cosine(%tanh.2)
  ROOT %add.1 = f32[8]{0} add(%cosine.2, %a)
}
"""
    made = step(read(inner + outer), read(flat), "`call-inliner`")
    assert made.headline.startswith("`call-inliner` inlined 2 calls into 3 instructions; ")


_UNSORTED = """
ENTRY %main (a: f32[8], i: s32[8,1], u: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %i = s32[8,1]{1,0} parameter(1)
  %u = f32[8]{0} parameter(2)
  %neg.1 = f32[8]{0} negate(%u)
  ROOT %out = f32[8]{0} add(%neg.1, %a)
}
"""
_SORTED = """
%picked (p: f32[8], q: s32[8,1]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %q = s32[8,1]{1,0} parameter(1)
  ROOT %gather.1 = f32[8]{0} gather(%p, %q), offset_dims={}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1}
}
""" + _UNSORTED.replace(
    "  ROOT %out = f32[8]{0} add(%neg.1",
    "  %fusion.1 = f32[8]{0} fusion(%neg.1, %i), kind=kCustom, calls=%picked\n"
    "  ROOT %out = f32[8]{0} add(%fusion.1",
)


def test_a_fusion_of_heavy_work_that_was_nowhere_before_is_added_for_sure(read: Read) -> None:
    """What a TPU pass does before a scatter: it sorts the indices and gathers the updates."""
    added = match(read(_UNSORTED), read(_SORTED)).pairing_after(at("fusion.1"))
    assert added is not None
    assert (added.relation, added.grade) == (Relation.ADDED, Grade.MATCHED)
