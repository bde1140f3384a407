"""What can happen to an instruction at a step."""

from collections.abc import Callable

from xlareport.analysis.history.events import (
    Event,
    addition,
    expanded_into,
    operand_types,
    retyped_products,
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
_NARROW = _WIDE.replace("%x = f32[8,8]{1,0} sine", "%x = bf16[8,8]{1,0} sine")
_DOT = Place("main", "dot.1")
_TYPES = "operands f32, f32 → bf16, f32"


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


def test_a_product_whose_line_stayed_has_factors_of_another_type(read: Read) -> None:
    matching = match(read(_WIDE), read(_NARROW))
    assert [*retyped_products(matching)] == [(_DOT, _DOT)]
    assert operand_types(matching, _DOT, _DOT) == _TYPES


def test_factors_of_one_type_are_not_told(read: Read) -> None:
    matching = match(read(_WIDE), read(_WIDE.replace("sine", "cosine")))
    assert not [*retyped_products(matching)]


def test_what_is_no_product_has_no_factors(read: Read) -> None:
    matching = match(read(_WIDE), read(_NARROW))
    place = Place("main", "out")
    assert not operand_types(matching, place, place)


def test_the_history_says_so_in_both_directions(read: Read) -> None:
    shots = SnapshotSequence([read(_WIDE), read(_WIDE), read(_NARROW)])
    for stage in (0, 2):
        events = history(shots, stage, _DOT)
        assert [event.reason for event in events if event.event is Event.CHANGED] == [_TYPES]


def test_a_renamed_product_says_so_too(read: Read) -> None:
    shots = SnapshotSequence([read(_WIDE), read(_NARROW.replace("dot.1", "dot.7"))])
    (event,) = [event for event in history(shots, 0, _DOT) if event.targets]
    assert event.reason.endswith(_TYPES)


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
