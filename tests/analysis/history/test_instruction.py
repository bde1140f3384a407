from collections.abc import Sequence

from tests.analysis.history.six_snapshots import (
    FIRST,
    RENAMED,
    REPLACED,
    Read,
    at,
    snapshots,
)

from xlareport.analysis.history.events import Event, HistoryEvent
from xlareport.analysis.history.instruction import (
    SnapshotSequence,
    ancestors,
    descendants,
    history,
    places_of_op,
)
from xlareport.knowledge.grades import Grade


def told(events: Sequence[HistoryEvent]) -> list[tuple[int, Event]]:
    return [(one.number, one.event) for one in events]


def test_forward_from_the_input(read: Read) -> None:
    events = history(snapshots(read), 0, at("half"))
    assert told(events) == [
        (0, Event.FIRST),
        (3, Event.RENAMED),
        (4, Event.REPLACED),
        (5, Event.FUSED),
        (5, Event.LAST),
    ]
    assert events[3].instruction == at("quotient.1", "fused")
    assert events[3].reason == "into %fusion"


def test_backward_from_the_result_is_the_same(read: Read) -> None:
    shots = snapshots(read)
    assert history(shots, 5, at("quotient.1", "fused")) == history(shots, 0, at("half"))


def test_a_fusion_is_created_from_what_it_holds(read: Read) -> None:
    first = history(snapshots(read), 5, at("fusion"))[0]
    assert (first.number, first.event, first.confidence) == (5, Event.CREATED, Grade.EXACT)
    assert set(first.sources) == {at("quotient"), at("out")}


def test_what_nothing_read_is_gone_with_the_reason(read: Read) -> None:
    last = history(snapshots(read), 0, at("idle"))[-1]
    assert (last.number, last.event, last.reason) == (1, Event.REMOVED, "it had no users")


def test_what_does_the_work_of_a_framework_op_now(read: Read) -> None:
    shots = snapshots(read)
    places = places_of_op(shots.modules[0], "jit(f)/mlp/div")
    assert places == (at("half"),)
    assert at("quotient.1", "fused") in descendants(shots, 0, places)


def test_what_a_fusion_comes_from(read: Read) -> None:
    assert set(ancestors(snapshots(read), 5, [at("fusion")])) == {at("half"), at("out")}


def test_a_place_that_is_not_there_has_no_history(read: Read) -> None:
    assert history(snapshots(read), 0, at("nowhere")) == ()


TWICE = FIRST.replace("tanh(%a)", "divide(%a, %a)").replace("negate(%half)", "add(%half, %idle)")
ONCE = TWICE.replace("  %idle = f32[8]{0} divide(%a, %a)\n", "").replace("%idle)", "%half)")


def test_what_was_merged_has_the_history_of_each(read: Read) -> None:
    other = TWICE.replace("%idle", "%quotient")
    shots = SnapshotSequence([read(text) for text in (TWICE, other, ONCE)])
    events = history(shots, 2, at("half"))
    assert told(events) == [
        (0, Event.FIRST),
        (0, Event.FIRST),
        (1, Event.RENAMED),
        (2, Event.MERGED),
        (2, Event.LAST),
    ]
    assert {event.instruction for event in events[:2]} == {at("half"), at("idle")}


def test_the_same_operation_made_anew_was_rebuilt_and_not_replaced(read: Read) -> None:
    before = FIRST.replace("negate(%half)", "dot(%half, %a), lhs_contracting_dims={0}").replace(
        "ROOT %out = f32[8]{0}", "ROOT %out = f32[]"
    )
    after = before.replace("dot(%half, %a), lhs", "dot(%a, %half), rhs").replace("%out", "%dot.1")
    [first, rebuilt, _] = history(SnapshotSequence([read(before), read(after)]), 1, at("dot.1"))
    assert (first.event, rebuilt.event) == (Event.FIRST, Event.REBUILT)
    assert "contracting_dims" in rebuilt.reason


_CALLED = """
HloModule m

%raised (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %two = f32[] constant(2)
  %twos = f32[8]{0} broadcast(%two), dimensions={}
  ROOT %power = f32[8]{0} power(%p, %twos)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %call = f32[8]{0} call(%a), to_apply=%raised
  ROOT %out = f32[8]{0} negate(%call)
}
"""
_IN_PLACE = """
HloModule m

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %two = f32[] constant(2)
  %twos = f32[8]{0} broadcast(%two), dimensions={}
  %power = f32[8]{0} power(%a, %twos)
  ROOT %out = f32[8]{0} negate(%power)
}
"""


def test_an_inlined_call_goes_on_as_what_it_did_not_as_its_literals(read: Read) -> None:
    shots = SnapshotSequence([read(_CALLED), read(_IN_PLACE)])
    ends = descendants(shots, 0, [at("call")])
    assert {place.instruction for place in ends} == {"twos", "power"}


def test_what_was_merged_of_many_has_the_history_of_each(read: Read) -> None:
    """A combined collective can have a hundred members."""
    names = [f"part{number}" for number in range(20)]
    parts = "\n".join(f"  %{name} = f32[8]{{0}} divide(%a, %a)" for name in names)
    tuples = ["ROOT %t = (", ", ".join(["f32[8]{0}"] * 20), ") tuple("]
    text = "HloModule m\n\nENTRY %main {\n  %a = f32[8]{0} parameter(0)\n"
    before = f"{text}{parts}\n  {''.join(tuples)}{', '.join(f'%{name}' for name in names)})\n}}\n"
    first, *others = parts.splitlines()
    after = before.replace("\n".join(others) + "\n", "")
    for name in names[1:]:
        after = after.replace(f"%{name},", "%part0,").replace(f"%{name})", "%part0)")
    assert len(others) == 19
    assert first in after
    events = history(SnapshotSequence([read(before), read(after)]), 1, at("part0"))
    begun = {event.instruction.instruction for event in events if event.event is Event.FIRST}
    assert begun == set(names)


_WRAPPED = """
%wrapped (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %quotient.1 = f32[8]{0} multiply(%p, %p), metadata={op_name="jit(f)/mlp/div"}
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %wrapped_multiply = f32[8]{0} fusion(%a), kind=kLoop, calls=%wrapped
  ROOT %out = f32[8]{0} negate(%wrapped_multiply)
}
"""


def test_a_fusion_of_one_instruction_has_the_history_of_that_instruction(read: Read) -> None:
    sequence = SnapshotSequence([read(text) for text in (RENAMED, REPLACED, _WRAPPED)])
    events = history(sequence, 2, at("wrapped_multiply"))
    assert told(events) == [
        (0, Event.FIRST),
        (1, Event.REPLACED),
        (2, Event.CREATED),
        (2, Event.LAST),
    ]


_GATHERED = """
HloModule m

ENTRY %main (t: f32[64,8], i: s32[1,4]) -> f32[1,4,8] {
  %t = f32[64,8]{1,0} parameter(0)
  %i = s32[1,4]{1,0} parameter(1)
  ROOT %gather.1 = f32[1,4,8]{2,1,0} gather(%t, %i), offset_dims={2}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=2, slice_sizes={1,8}, metadata={op_name="take"}
}
"""
_GATHERED_IN_FUSION = """
HloModule m

%fused (p.0: f32[64,8], p.1: s32[1,4]) -> f32[4,8] {
  %p.0 = f32[64,8]{1,0} parameter(0)
  %p.1 = s32[1,4]{1,0} parameter(1)
  %flat = s32[4]{0} reshape(%p.1)
  ROOT %gather.2 = f32[4,8]{1,0} gather(%p.0, %flat), offset_dims={1}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}, metadata={op_name="take"}
}

ENTRY %main (t: f32[64,8], i: s32[1,4]) -> f32[1,4,8] {
  %t = f32[64,8]{1,0} parameter(0)
  %i = s32[1,4]{1,0} parameter(1)
  %fusion = f32[4,8]{1,0} fusion(%t, %i), kind=kCustom, calls=%fused
  ROOT %back = f32[1,4,8]{2,1,0} reshape(%fusion)
}
"""


def test_what_was_fused_and_changed_has_both_in_its_history(read: Read) -> None:
    shots = SnapshotSequence([read(_GATHERED), read(_GATHERED_IN_FUSION)])
    _, fused, _ = history(shots, 0, at("gather.1"))
    assert fused.event is Event.FUSED
    assert fused.reason == (
        "into %fusion; f32[1,4,8]{2,1,0} → f32[4,8]{1,0}; "
        "offset_dims: {2} → {1}; index_vector_dim: 2 → 1"
    )
