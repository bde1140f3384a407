"""What can happen to an instruction at a step."""

from collections.abc import Callable

from xlareport.analysis.history.events import (
    Event,
    addition,
    events_between,
    expanded_into,
)
from xlareport.analysis.history.instruction import SnapshotSequence, history, sources_of
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_WIDE = """
HloModule m

ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %x = f32[8,8]{1,0} sine(%a)
  %dot.1 = f32[8,8]{1,0} dot(%x, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = f32[8,8]{1,0} negate(%dot.1)
}
"""
_DOT = Place("main", "dot.1")


def test_an_expansion_goes_on_as_its_result_and_where_that_only_moves_data_as_the_work(
    read: Callable[[str], HloModule],
) -> None:
    """A loop that a later pass unrolls leaves the work; the move behind it may be gone by then."""
    text = """
%body (x: (f32[9], f32[1])) -> (f32[9], f32[1]) {
  ROOT %x = (f32[9]{0}, f32[1]{0}) parameter(0)
}

%going (y: (f32[9], f32[1])) -> pred[] {
  %y = (f32[9]{0}, f32[1]{0}) parameter(0)
  ROOT %no = pred[] constant(false)
}

ENTRY %main (a: f32[9]) -> f32[] {
  %a = f32[9]{0} parameter(0)
  %room = f32[1]{0} constant({0})
  %tuple.1 = (f32[9]{0}, f32[1]{0}) tuple(%a, %room)
  %while.1 = (f32[9]{0}, f32[1]{0}) while(%tuple.1), condition=%going, body=%body
  %part = f32[1]{0} get-tuple-element(%while.1), index=1
  %reshape.1 = f32[] reshape(%part)
  ROOT %out = f32[] negate(%reshape.1)
}
"""
    module = read(text)
    names = ("reshape.1", "part", "while.1", "tuple.1", "room")
    parts = tuple(Place("main", name) for name in names)
    before = (Place("main", "gather.1"),)
    pairing = Pairing(before, parts, Grade.MATCHED, "", Relation.EXPANDED)
    matching = Matching(module, module, {}, (pairing,))
    assert expanded_into(matching, pairing) == (parts[0], parts[2])
    pairing.after = (parts[2], *parts[3:])
    assert expanded_into(matching, pairing) == (parts[2],)


def test_a_constant_that_an_expansion_uses_comes_from_nothing(
    read: Callable[[str], HloModule],
) -> None:
    module = read("""
ENTRY %main (a: f32[9]) -> f32[9] {
  %a = f32[9]{0} parameter(0)
  %zero = f32[] constant(0)
  %zeros = f32[9]{0} broadcast(%zero), dimensions={}
  ROOT %out = f32[9]{0} maximum(%a, %zeros)
}
""")
    out, zero, zeros = (Place("main", name) for name in ("out", "zero", "zeros"))
    before = (Place("main", "relu"),)
    pairing = Pairing(before, (out, zero, zeros), Grade.MATCHED, "", Relation.EXPANDED)
    matching = Matching(module, module, {}, (pairing,))
    assert sources_of(matching, out) == before
    assert sources_of(matching, zero) == sources_of(matching, zeros) == ()
    assert addition(1, zero, pairing).event is Event.ADDED


def test_a_history_tells_that_a_product_sums_over_fewer_elements(read: Read) -> None:
    """The result of a device is a partial sum then, also where its shape is another."""
    divided = _WIDE.replace("%b = f32[8,8]", "%b = f32[4,4]").replace("b: f32[8,8]", "b: f32[4,4]")
    for name in ("a", "x"):
        divided = divided.replace(f"%{name} = f32[8,8]", f"%{name} = f32[8,4]")
    divided = divided.replace("a: f32[8,8]", "a: f32[8,4]")
    divided = divided.replace("%dot.1 = f32[8,8]", "%dot.1 = f32[8,4]")
    divided = divided.replace("%out = f32[8,8]", "%out = f32[8,4]")
    events = history(SnapshotSequence((read(_WIDE), read(divided))), 0, _DOT)
    change = "f32[8,8]{1,0} → f32[8,4]{1,0}; sums over 8 → 4 elements"
    assert change in [entry.why for entry in events]


_UNFUSED = """
HloModule m

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %sine.1 = f32[8]{0} sine(%a)
  %exp.1 = f32[8]{0} exponential(%sine.1)
  ROOT %out = f32[8]{0} negate(%exp.1)
}
"""
_WITH_DEAD_FUSION = """
HloModule m

%left (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %sine.2 = f32[8]{0} sine(%p)
}

%fused (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %sine.3 = f32[8]{0} sine(%q)
  %exp.2 = f32[8]{0} exponential(%sine.3)
  ROOT %neg.1 = f32[8]{0} negate(%exp.2)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %fusion.1 = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused
}
"""


def test_a_clone_in_a_computation_that_nothing_calls_is_left_out(read: Read) -> None:
    """Priority fusion leaves the computations of fusions that it fused further."""
    snapshots = SnapshotSequence([read(_UNFUSED), read(_WITH_DEAD_FUSION)])
    events = history(snapshots, 0, Place("main", "sine.1"))
    told = [(known.event, known.targets) for known in events if known.targets]
    assert told == [(Event.FUSED, (Place("fused", "sine.3"),))]


_TWO_FUSIONS = """
HloModule m

%first (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %sine.1 = f32[8]{0} sine(%p)
  ROOT %exp.1 = f32[8]{0} exponential(%sine.1)
}

%second (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %cosine.1 = f32[8]{0} cosine(%q)
  ROOT %tanh.1 = f32[8]{0} tanh(%cosine.1)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %fusion.1 = f32[8]{0} fusion(%a), kind=kLoop, calls=%first
  %fusion.2 = f32[8]{0} fusion(%a), kind=kLoop, calls=%second
  %sub.1 = f32[8]{0} subtract(%fusion.1, %b)
  ROOT %out = f32[8]{0} add(%sub.1, %fusion.2)
}
"""
_OF_TWO_RESULTS = """
HloModule m

%second (q: f32[8]) -> (f32[8], f32[8]) {
  %q = f32[8]{0} parameter(0)
  %cosine.1 = f32[8]{0} cosine(%q)
  %tanh.1 = f32[8]{0} tanh(%cosine.1)
  %sine.2 = f32[8]{0} sine(%q)
  %exp.2 = f32[8]{0} exponential(%sine.2)
  ROOT %tuple.1 = (f32[8]{0}, f32[8]{0}) tuple(%tanh.1, %exp.2)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %fusion.2 = (f32[8]{0}, f32[8]{0}) fusion(%a), kind=kLoop, calls=%second
  %gte.1 = f32[8]{0} get-tuple-element(%fusion.2), index=0
  %gte.2 = f32[8]{0} get-tuple-element(%fusion.2), index=1
  %sub.1 = f32[8]{0} subtract(%gte.2, %b)
  ROOT %out = f32[8]{0} add(%sub.1, %gte.1)
}
"""


def test_an_element_of_several_results_comes_from_the_fusion_that_gave_it(read: Read) -> None:
    """Multi-output fusion merges fusions of one operand, and their readers take elements."""
    snapshots = SnapshotSequence([read(_TWO_FUSIONS), read(_OF_TWO_RESULTS)])
    element, first = Place("main", "gte.2"), Place("main", "fusion.1")
    (event,) = [event for event in history(snapshots, 1, element) if event.sources]
    assert (event.event, event.sources) == (Event.REPLACED, (first,))
    assert event.reason == "gives its result: it was merged into %fusion.2"
    matching = snapshots.into(1)
    assert matching is not None
    assert sources_of(matching, element) == (first,)
    (other,) = [event for event in history(snapshots, 1, Place("main", "gte.1")) if event.sources]
    assert other.reason == "gives its result: %fusion.2 gives several now"


_TWO_SUMS = """
HloModule m

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8], b: f32[4]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %all-reduce.1 = f32[8]{0} all-reduce(%a), replica_groups={}, to_apply=%sum
  %all-reduce.2 = f32[4]{0} all-reduce(%b), replica_groups={}, to_apply=%sum
  %left = f32[8]{0} negate(%all-reduce.1)
  %right = f32[4]{0} negate(%all-reduce.2)
  ROOT %out = f32[12]{0} concatenate(%left, %right), dimensions={0}
}
"""
_ONE_SUM = _TWO_SUMS.replace(
    "  %all-reduce.1 = f32[8]{0} all-reduce(%a), replica_groups={}, to_apply=%sum\n",
    "  %all-reduce.3 = (f32[8]{0}, f32[4]{0}) all-reduce(%a, %b), replica_groups={},"
    " to_apply=%sum\n  %gte.1 = f32[8]{0} get-tuple-element(%all-reduce.3), index=0\n",
).replace(
    "%all-reduce.2 = f32[4]{0} all-reduce(%b), replica_groups={}, to_apply=%sum",
    "%gte.2 = f32[4]{0} get-tuple-element(%all-reduce.3), index=1",
)


def test_an_element_of_a_combined_collective_comes_from_the_one_that_gave_it(read: Read) -> None:
    combined = _ONE_SUM.replace("negate(%all-reduce.1)", "negate(%gte.1)")
    combined = combined.replace("negate(%all-reduce.2)", "negate(%gte.2)")
    snapshots = SnapshotSequence([read(_TWO_SUMS), read(combined)])
    (event,) = [event for event in history(snapshots, 1, Place("main", "gte.2")) if event.sources]
    assert event.sources == (Place("main", "all-reduce.2"),)
    assert event.reason == "gives its result: it was combined into %all-reduce.3"


def test_what_is_merged_into_a_rebuilt_instruction_is_no_survivor(read: Read) -> None:
    """Both powers become one of another layout: the step tells the second as merged."""
    before = """HloModule m

ENTRY %main (a: f32[4,8]) -> (f32[4,8], f32[4,8]) {
  %a = f32[4,8]{1,0} parameter(0)
  %pow.1 = f32[4,8]{1,0} multiply(%a, %a), metadata={op_name="jit(f)/pow"}
  %pow.2 = f32[4,8]{1,0} multiply(%a, %a), metadata={op_name="jit(f)/pow"}
  %x = f32[4,8]{1,0} sine(%pow.1), metadata={op_name="jit(f)/sin"}
  %y = f32[4,8]{1,0} cosine(%pow.2), metadata={op_name="jit(f)/cos"}
  ROOT %t = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%x, %y)
}
"""
    after = """HloModule m

ENTRY %main (a: f32[4,8]) -> (f32[4,8], f32[4,8]) {
  %a = f32[4,8]{1,0} parameter(0)
  %c = f32[4,8]{0,1} copy(%a)
  %pow.0 = f32[4,8]{0,1} multiply(%c, %c), metadata={op_name="jit(f)/pow"}
  %x = f32[4,8]{0,1} sine(%pow.0), metadata={op_name="jit(f)/sin"}
  %y = f32[4,8]{0,1} cosine(%pow.0), metadata={op_name="jit(f)/cos"}
  ROOT %t = (f32[4,8]{0,1}, f32[4,8]{0,1}) tuple(%x, %y)
}
"""
    snapshots = SnapshotSequence([read(before), read(after)])
    events = {
        name: [event.event for event in history(snapshots, 0, Place("main", name))]
        for name in ("pow.1", "pow.2")
    }
    assert Event.MERGED in events["pow.2"]
    assert Event.MERGED not in events["pow.1"]


_ONE_COPY = """
ENTRY %main (a: f32[4,8]) -> (f32[4,4], f32[4,8]) {
  %a = f32[4,8]{1,0} parameter(0)
  %copy.1 = f32[4,8]{0,1} copy(%a)
  %slice.1 = f32[4,4]{0,1} slice(%copy.1), slice={[0:4], [0:4]}
  %sine = f32[4,4]{0,1} sine(%slice.1)
  ROOT %out = (f32[4,4]{0,1}, f32[4,8]{0,1}) tuple(%sine, %copy.1)
}
"""
_TWO_COPIES = _ONE_COPY.replace(
    "  %slice.1 = f32[4,4]{0,1} slice(%copy.1), slice={[0:4], [0:4]}\n",
    "  %slice.2 = f32[4,4]{1,0} slice(%a), slice={[0:4], [0:4]}\n"
    "  %copy.2 = f32[4,4]{0,1} copy(%slice.2)\n",
).replace("sine(%slice.1)", "sine(%copy.2)")


def test_a_clone_says_that_its_original_stays_and_does_not_become_it(read: Read) -> None:
    matching = match(read(_ONE_COPY), read(_TWO_COPIES))
    original, clone = Place("main", "copy.1"), Place("main", "copy.2")
    pairing = matching.pairing_after(clone)
    (event,) = events_between(matching, 1, pairing, (original, clone))
    assert (event.event, event.instruction) == (Event.CLONED, clone)
    assert (event.sources, event.became) == ((original,), (clone,))
    assert event.why == "a further copy, past %slice.2; the original stays"
    (event,) = events_between(matching, 1, pairing, (original, original))
    assert (event.instruction, event.became) == (original, (clone,))
    assert "stays" not in event.why


def test_a_matmul_whose_operands_changed_places_says_so(read: Read) -> None:
    """What `algsimp` does to save a transpose of the result."""
    line = (
        "  %dot.1 = f32[8,8]{1,0} dot(%x, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    )
    assert line in _WIDE
    turned = line.replace("(%x, %b)", "(%b, %x)").replace("dims={1}", "dims={}")
    turned = turned.replace("rhs_contracting_dims={0}", "rhs_contracting_dims={1}")
    turned = turned.replace("dims={}", "dims={0}").replace("%dot.1", "%dot.2")
    turned += "  %t = f32[8,8]{1,0} transpose(%dot.2), dimensions={1,0}\n"
    after = _WIDE.replace(line, turned).replace("negate(%dot.1)", "negate(%t)")
    events = history(SnapshotSequence((read(_WIDE), read(after))), 0, _DOT)
    (changed,) = [event for event in events if event.number == 1 and event.targets]
    assert changed.why.startswith("operands swapped; lhs_contracting_dims: {1} → {0}")


_WHOLE_SUM = """
%add (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %sum = f32[] add(%p, %q)
}

ENTRY %main (a: f32[8,64], b: f32[64,8]) -> f32[8,8] {
  %a = f32[8,64]{1,0} parameter(0)
  %b = f32[64,8]{1,0} parameter(1)
  %dot.1 = f32[8,8]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = f32[8,8]{1,0} negate(%dot.1)
}
"""
_SPLIT_SUM = _WHOLE_SUM.replace(
    "  %dot.1 = f32[8,8]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
    """  %left = f32[8,4,16]{2,1,0} reshape(%a)
  %right = f32[4,16,8]{2,1,0} reshape(%b)
  %dot.2 = f32[4,8,8]{2,1,0} dot(%left, %right), lhs_batch_dims={1}, lhs_contracting_dims={2}, \
rhs_batch_dims={0}, rhs_contracting_dims={1}
  %zero = f32[] constant(0)
  %reduce.2 = f32[8,8]{1,0} reduce(%dot.2, %zero), dimensions={0}, to_apply=%add
""",
).replace("negate(%dot.1)", "negate(%reduce.2)")


def test_a_split_matmul_says_over_how_many_elements_a_part_sums(read: Read) -> None:
    """Split-K: partial results, which a reduce adds up."""
    events = history(SnapshotSequence((read(_WHOLE_SUM), read(_SPLIT_SUM))), 0, _DOT)
    (split,) = [event for event in events if event.event is Event.SPLIT]
    assert split.why.startswith("sums over 64 → 16 elements; ")
