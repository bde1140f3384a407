"""Where a thing begins, step by step backwards."""

from tests.analysis.history.six_snapshots import FIRST, Read, at, snapshots

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, ancestors, beginnings
from xlareport.analysis.history.subjects import Subject
from xlareport.analysis.history.trace import standings, trace_subject
from xlareport.analysis.matching.search.pairing import Place


def test_where_that_begins_which_comes_from_nothing_in_the_first_snapshot(read: Read) -> None:
    made = FIRST.replace("negate(%half)", "negate(%new)").replace(
        "  ROOT", "  %new = f32[8]{0} sort(%half), dimensions={0}, to_apply=%less\n  ROOT"
    )
    shots = SnapshotSequence(
        [read(one) for one in (FIRST, FIRST, made, made.replace("%new", "%newer"))]
    )
    assert ancestors(shots, 3, [at("newer")]) == ()
    (birth,) = beginnings(shots, 3, [at("newer")])
    assert (birth.number, birth.event, birth.instruction) == (2, Event.ADDED, at("new"))
    assert birth.sources == ()
    assert trace_subject(shots, Subject("newer", 3, (at("newer"),))).beginnings == (birth,)


def test_what_comes_from_the_first_snapshot_has_no_beginning(read: Read) -> None:
    shots = snapshots(read)
    assert not list(beginnings(shots, 5, [at("fusion")]))
    assert not list(beginnings(shots, 0, [at("half")]))
    assert trace_subject(shots, Subject("fusion", 5, (at("fusion"),))).beginnings == ()


def test_a_fusion_of_what_is_new_and_a_constant_does_not_come_from_the_constant(
    read: Read,
) -> None:
    plain = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %b = f32[8]{0} broadcast(%zero), dimensions={}
  ROOT %out = f32[8]{0} add(%a, %b)
}
"""
    padded = """
%padding (p: f32[8]) -> f32[16] {
  %p = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %pad = f32[16]{0} pad(%p, %zero), padding=0_8
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %loop_pad_fusion = f32[16]{0} fusion(%a), kind=kLoop, calls=%padding
  ROOT %out = f32[8]{0} slice(%loop_pad_fusion), slice={[0:8]}
}
"""
    shots = SnapshotSequence([read(plain), read(padded)])
    trace = trace_subject(shots, Subject("f", 1, (Place("main", "loop_pad_fusion"),)))
    assert [beginning.instruction for beginning in trace.beginnings] == [Place("padding", "pad")]
    assert trace.origins == ()


def test_of_several_origins_the_largest_comes_first_and_constants_last(read: Read) -> None:
    module = read("""
ENTRY %main (w: f32[64], i: s32[]) -> f32[8] {
  %w = f32[64]{0} parameter(0)
  %i = s32[] parameter(1)
  %huge = f32[4096]{0} constant({...}), metadata={op_name="jit(f)/c"}
  %lt = pred[] compare(%i, %i), direction=LT, metadata={op_name="jit(f)/lt"}
  %plain = f32[128]{0} concatenate(%w, %w), dimensions={0}
  ROOT %layer = f32[8]{0} dynamic-slice(%w, %i), dynamic_slice_sizes={8}, \
metadata={op_name="jit(f)/dynamic_slice"}
}
""")
    names = [at(name) for name in ("huge", "plain", "lt", "layer")]
    ordered = [row.place.instruction for row in standings(module, names)]
    assert ordered == ["layer", "lt", "plain", "huge"]


_GATHERED = """
ENTRY %main (a: f32[4], b: f32[4]) -> (f32[8], f32[8]) {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %gather.1 = f32[8]{0} all-gather(%a), channel_id=1, dimensions={0}
  %gather.2 = f32[8]{0} all-gather(%b), channel_id=2, dimensions={0}
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%gather.1, %gather.2)
}
"""
_COMBINED = """
ENTRY %main (a: f32[4], b: f32[4]) -> (f32[8], f32[8]) {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %both = (f32[8]{0}, f32[8]{0}) all-gather(%b, %a), channel_id=1, dimensions={0}
  %first = f32[8]{0} get-tuple-element(%both), index=1
  %second = f32[8]{0} get-tuple-element(%both), index=0
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%first, %second)
}
"""
_APART = (
    _COMBINED.replace(
        "  %both = (f32[8]{0}, f32[8]{0}) all-gather(%b, %a)",
        "  %start = ((f32[4]{0}, f32[4]{0}), (f32[8]{0}, f32[8]{0})) all-gather-start(%b, %a)",
    )
    .replace("  %first", "  %done = (f32[8]{0}, f32[8]{0}) all-gather-done(%start)\n  %first")
    .replace("(%both)", "(%done)")
)


def test_what_it_was_combined_with_has_no_part_in_the_earlier_events(read: Read) -> None:
    renamed = _GATHERED.replace("gather.1", "gather.3").replace("gather.2", "gather.4")
    texts = (_GATHERED, renamed, _COMBINED, _APART)
    known = SnapshotSequence([read(text) for text in texts])
    place = Place("main", "gather.1")
    trace = trace_subject(known, Subject("", 0, (place,)))
    assert {row.place.instruction for row in trace.now} == {"start", "done"}
    early = {event.instruction.instruction for event in trace.events if event.number < 2}
    assert early == {"gather.1", "gather.3"}


_ALONE = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %out = f32[8]{0} negate(%a)
}
"""
_SHARED_OUT = """
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

%scatter (p: f32[8]) -> f32[2] {
  %p = f32[8]{0} parameter(0)
  %id = u32[] partition-id()
  %two = u32[] constant(2)
  %half = u32[] shift-left(%id, %two)
  %place = u32[] multiply(%half, %two)
  %further = u32[] add(%place, %two)
  %last = u32[] subtract(%further, %half)
  %all-reduce.1 = f32[8]{0} all-reduce(%p), replica_groups={}, to_apply=%sum
  ROOT %part = f32[2]{0} dynamic-slice(%all-reduce.1, %last), dynamic_slice_sizes={2}
}

ENTRY %main (a: f32[8]) -> f32[2] {
  %a = f32[8]{0} parameter(0)
  %neg = f32[8]{0} negate(%a)
  ROOT %fusion.1 = f32[2]{0} fusion(%neg), kind=kCustom, calls=%scatter
}
"""


def test_a_new_collective_is_told_before_the_indices_that_it_is_sliced_by(read: Read) -> None:
    shots = SnapshotSequence([read(_ALONE), read(_SHARED_OUT)])
    trace = trace_subject(shots, Subject("fusion.1", 1, (Place("main", "fusion.1"),)))
    assert trace.beginnings[0].instruction == Place("scatter", "all-reduce.1")


def test_a_new_slice_is_told_before_the_converts_around_it(read: Read) -> None:
    sliced = """
%held (p: f32[8]) -> f32[2] {
  %p = f32[8]{0} parameter(0)
  %c.1 = bf16[8]{0} convert(%p)
  %c.2 = f32[8]{0} convert(%c.1)
  %c.3 = bf16[8]{0} convert(%c.2)
  %c.4 = f32[8]{0} convert(%c.3)
  %part = f32[2]{0} slice(%c.4), slice={[0:2]}
  %c.5 = bf16[2]{0} convert(%part)
  ROOT %c.6 = f32[2]{0} convert(%c.5)
}

ENTRY %main (a: f32[8]) -> f32[2] {
  %a = f32[8]{0} parameter(0)
  %neg = f32[8]{0} negate(%a)
  ROOT %fusion.1 = f32[2]{0} fusion(%neg), kind=kLoop, calls=%held
}
"""
    shots = SnapshotSequence([read(_ALONE), read(sliced)])
    trace = trace_subject(shots, Subject("fusion.1", 1, (Place("main", "fusion.1"),)))
    assert trace.beginnings[0].instruction == Place("held", "part")


def test_a_fusion_of_the_part_of_an_iota_comes_from_what_the_iota_was(read: Read) -> None:
    """The program repeats a computed position; the compiler knows that it counts, and shards it."""
    plain = """
ENTRY %main (a: s32[8]) -> s32[8,4] {
  %a = s32[8]{0} parameter(0)
  %i = s32[8]{0} iota(), iota_dimension=0
  %n = s32[8]{0} negate(%i)
  %p = s32[8]{0} negate(%n)
  %places = s32[8,4]{1,0} broadcast(%p), dimensions={0}, metadata={op_name="jit(f)/arange"}
  %wide = s32[8,4]{1,0} broadcast(%a), dimensions={0}
  ROOT %out = s32[8,4]{1,0} add(%wide, %places)
}
"""
    known = """
ENTRY %main (a: s32[8]) -> s32[8,4] {
  %a = s32[8]{0} parameter(0)
  %places = s32[8,4]{1,0} iota(), iota_dimension=0, metadata={op_name="jit(f)/arange"}
  %wide = s32[8,4]{1,0} broadcast(%a), dimensions={0}
  ROOT %out = s32[8,4]{1,0} add(%wide, %places)
}
"""
    part = """
ENTRY %main (a: s32[4], o: s32[]) -> s32[4,4] {
  %a = s32[4]{0} parameter(0)
  %o = s32[] parameter(1)
  %places = s32[4,4]{1,0} iota(), iota_dimension=0, metadata={op_name="jit(f)/arange"}
  %offsets = s32[4,4]{1,0} broadcast(%o), dimensions={}
  %sum = s32[4,4]{1,0} add(%places, %offsets)
  %wide = s32[4,4]{1,0} broadcast(%a), dimensions={0}
  ROOT %out = s32[4,4]{1,0} add(%wide, %sum)
}
"""
    fused = """
%counting (o: s32[]) -> s32[4,4] {
  %o = s32[] parameter(0)
  %places = s32[4,4]{1,0} iota(), iota_dimension=0, metadata={op_name="jit(f)/arange"}
  %offsets = s32[4,4]{1,0} broadcast(%o), dimensions={}
  ROOT %sum = s32[4,4]{1,0} add(%places, %offsets)
}

ENTRY %main (a: s32[4], o: s32[]) -> s32[4,4] {
  %a = s32[4]{0} parameter(0)
  %o = s32[] parameter(1)
  %iota_add_fusion = s32[4,4]{1,0} fusion(%o), kind=kLoop, calls=%counting
  %wide = s32[4,4]{1,0} broadcast(%a), dimensions={0}
  ROOT %out = s32[4,4]{1,0} add(%wide, %iota_add_fusion)
}
"""
    shots = SnapshotSequence([read(text) for text in (plain, known, part, fused)])
    trace = trace_subject(shots, Subject("f", 3, (at("iota_add_fusion"),)))
    assert [origin.place for origin in trace.origins] == [at("places")]
    assert trace.beginnings == ()
