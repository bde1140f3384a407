"""A step gives what matmuls and collectives read another element type, and leaves their lines."""

from collections.abc import Callable

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.history.operand_types import operand_types, retyped_operands
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

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


def test_a_product_whose_line_stayed_has_factors_of_another_type(read: Read) -> None:
    matching = match(read(_WIDE), read(_NARROW))
    assert [*retyped_operands(matching)] == [(_DOT, _DOT)]
    assert operand_types(matching, _DOT, _DOT) == _TYPES


def test_factors_of_one_type_are_not_told(read: Read) -> None:
    matching = match(read(_WIDE), read(_WIDE.replace("sine", "cosine")))
    assert not [*retyped_operands(matching)]


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


_SENT = """
%max (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %more = f32[] maximum(%x, %y)
}

ENTRY %main (a: bf16[8], b: f32[8], c: f32[8]) -> f32[8] {
  %a = bf16[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %c = f32[8]{0} parameter(2)
  %wide = f32[8]{0} convert(%a)
  %all-reduce.1 = f32[8]{0} all-reduce(%wide), replica_groups={}, to_apply=%max
  %sum = f32[8]{0} add(%all-reduce.1, %b)
  ROOT %out = f32[8]{0} add(%sum, %wide)
}
"""


def test_a_convert_that_was_folded_into_an_all_reduce_is_an_event_of_it(read: Read) -> None:
    """What `bfloat16-fold` does: the sent elements are narrower, and the result is as it was."""
    folded = _SENT.replace("all-reduce(%wide)", "all-reduce(%a)")
    place = Place("main", "all-reduce.1")
    events = history(SnapshotSequence([read(_SENT), read(folded)]), 1, place)
    (event,) = [event for event in events if event.event is Event.CHANGED]
    assert event.why == "operands f32 → bf16; %wide was folded into it"


def test_operands_of_many_types_are_counted(read: Read) -> None:
    several = _SENT.replace(
        "f32[8]{0} all-reduce(%wide)", "(f32[8], f32[8], f32[8]) all-reduce(%wide, %b, %c)"
    )
    several = several.replace("add(%all-reduce.1, %b)", "negate(%b)")
    narrow = several.replace("all-reduce(%wide", "all-reduce(%a")
    place = Place("main", "all-reduce.1")
    types = operand_types(match(read(several), read(narrow)), place, place)
    assert types == "operands 3 f32 → 1 bf16, 2 f32; %wide was folded into it"
