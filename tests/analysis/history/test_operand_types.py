"""Element types of what products read, in the histories of the products."""

from collections.abc import Callable

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.history.operand_types import operand_types, retyped_products
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
