from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.search.work_pairs import (
    moved_by,
    spans_partitioned_compilation,
)
from xlareport.analysis.matching.sides.graph import opcode_of
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.grades import Grade

BEFORE = """HloModule jit_f, num_partitions=2

ENTRY %main (a: f32[8,4], b: f32[8,4]) -> f32[4,8] {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[8,4]{1,0} parameter(1)
  %turned = f32[4,8]{1,0} transpose(%a), dimensions={1,0}
  %also_turned = f32[4,8]{1,0} transpose(%b), dimensions={1,0}
  %first = f32[4,8]{1,0} negate(%turned), metadata={op_name="jit(f)/neg"}
  %second = f32[4,8]{1,0} negate(%also_turned), metadata={op_name="jit(f)/neg"}
  ROOT %out = f32[4,8]{1,0} power(%first, %second), metadata={op_name="jit(f)/pow"}
}
"""
AFTER = """HloModule jit_f, is_scheduled=true, num_partitions=2

%fused (p0: f32[4,4], p1: f32[4,4]) -> f32[4,4] {
  %p0 = f32[4,4]{1,0} parameter(0)
  %p1 = f32[4,4]{1,0} parameter(1)
  %new.1 = f32[4,4]{1,0} negate(%p1), metadata={op_name="jit(f)/neg"}
  %new.2 = f32[4,4]{1,0} negate(%p0), metadata={op_name="jit(f)/neg"}
  ROOT %new.3 = f32[4,4]{1,0} power(%new.2, %new.1), metadata={op_name="jit(f)/pow"}
}

ENTRY %main_spmd (a.1: f32[4,4], b.1: f32[4,4]) -> f32[4,4] {
  %a.1 = f32[4,4]{1,0} parameter(0)
  %b.1 = f32[4,4]{1,0} parameter(1)
  %start = (f32[4,4]{1,0:S(1)}, f32[4,4]{1,0}, u32[]) copy-start(%a.1)
  %done = f32[4,4]{1,0:S(1)} copy-done(%start)
  %bitcast = f32[4,4]{0,1} bitcast(%b.1)
  ROOT %fusion = f32[4,4]{1,0} fusion(%done, %bitcast), kind=kLoop, calls=%fused
}
"""


def read(text: str) -> HloModule:
    module = TextReader().read(text.encode(), "m.txt")
    assert module is not None
    return module


def test_work_is_paired_across_the_copies_and_transposes_between_it() -> None:
    matching = match(read(BEFORE), read(AFTER))
    for old, new in (("first", "new.2"), ("second", "new.1")):
        pairing = matching.pairing_after(Place("fused", new))
        assert pairing is not None
        assert pairing.before == (Place("main", old),)
        assert pairing.grade is Grade.MATCHED


def test_the_two_ends_of_a_compilation_for_several_devices_are_recognized() -> None:
    before, after = read(BEFORE), read(AFTER)
    assert spans_partitioned_compilation(before, after)
    assert not spans_partitioned_compilation(after, after)
    assert not spans_partitioned_compilation(before, read(AFTER.replace(", is_scheduled=true", "")))
    assert not spans_partitioned_compilation(
        before, read(AFTER.replace("num_partitions=2", "num_partitions=1"))
    )


def test_operands_are_seen_through_moves_where_asked() -> None:
    before, after = read(BEFORE), read(AFTER)
    for moved, opcodes in ((moved_by, {"parameter"}), (None, {"copy-done", "bitcast"})):
        graph = start(before, after, moved=moved).after.graph
        new = [
            frame.nodes[name]
            for frame in graph.frames
            for name in ("new.1", "new.2")
            if name in frame.nodes
        ]
        assert {opcode_of(read) for node in new for read, _ in graph.operands(node)} == opcodes


_PREFETCHED = """HloModule jit_f

%sliced (p.0: f32[8]) -> f32[4] {
  %p.0 = f32[8]{0} parameter(0)
  ROOT %slice.0 = f32[4]{0:S(1)} slice(%p.0), slice={[0:4]}
}

%sliced.1 (p.1: f32[8]) -> f32[4] {
  %p.1 = f32[8]{0} parameter(0)
  ROOT %slice.1 = f32[4]{0:S(1)} slice(%p.1), slice={[4:8]}
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %slice-start = ((f32[8]{0}), f32[4]{0:S(1)}, s32[]) async-start(%a), calls=%sliced
  %slice-start.1 = ((f32[8]{0}), f32[4]{0:S(1)}, s32[]) async-start(%a), calls=%sliced.1
  %slice-done = f32[4]{0:S(1)} async-done(%slice-start)
  %slice-done.1 = f32[4]{0:S(1)} async-done(%slice-start.1)
  %join = f32[8]{0:S(1)} custom-call(%slice-done, %slice-done.1), \
custom_call_target="ConcatBitcast"
  %zero = f32[] constant(0)
  %row = f32[1,8]{1,0} reshape(%join)
  %same = f32[8]{0} reduce(%row, %zero), dimensions={0}, to_apply=%sum
  %less = f32[] reduce(%row, %zero), dimensions={0,1}, to_apply=%sum
  ROOT %out = f32[8]{0} sine(%same)
}
""".replace("\\\n", "")


def test_a_prefetch_in_slices_and_a_sum_of_one_element_pass_their_operand_on() -> None:
    main = read(_PREFETCHED).by_name["main"]
    passed = {name: moved_by(main, main.by_name[name]) for name in main.by_name}
    starts = {name: line and line.name for name, line in passed.items()}
    assert starts == {
        **dict.fromkeys(main.by_name),
        "join": "slice-start",
        "row": "row",
        "same": "same",
    }


def test_a_join_of_anything_but_slices_passes_nothing_on() -> None:
    main = read(_PREFETCHED.replace("async-done(", "copy-done(")).by_name["main"]
    assert moved_by(main, main.by_name["join"]) is None
