"""Parameters that were tuples, of which each element has its own parameter now."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

PAIR = "(f32[8]{0}, s32[8]{0})"
WHOLE = f"""
HloModule m
%called (p.1: (f32[8], s32[8])) -> f32[8] {{
  %p.1 = {PAIR} parameter(0)
  %x = f32[8]{{0}} get-tuple-element(%p.1), index=0
  %i = s32[8]{{0}} get-tuple-element(%p.1), index=1
  ROOT %gather = f32[8]{{0}} custom-call(%x, %i), custom_call_target="gather"
}}
%offloaded (p.2: (f32[8], s32[8])) -> f32[8] {{
  %p.2 = {PAIR} parameter(0)
  ROOT %call = f32[8]{{0}} call(%p.2), to_apply=%called
}}
ENTRY %main (a: f32[8], b: s32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = s32[8]{{0}} parameter(1)
  %t = {PAIR} tuple(%a, %b)
  %start = (({PAIR}), f32[8]{{0}}, u32[]) async-start(%t), calls=%offloaded
  ROOT %done = f32[8]{{0}} async-done(%start), calls=%offloaded
}}
"""
PARTS = f"""
HloModule m
%called (p.11: f32[8], p.12: s32[8]) -> f32[8] {{
  %p.11 = f32[8]{{0}} parameter(0)
  %p.12 = s32[8]{{0}} parameter(1)
  %held = {PAIR} tuple(%p.11, %p.12)
  %x = f32[8]{{0}} get-tuple-element(%held), index=0
  %i = s32[8]{{0}} get-tuple-element(%held), index=1
  ROOT %gather = f32[8]{{0}} custom-call(%x, %i), custom_call_target="gather"
}}
%offloaded (p.21: f32[8], p.22: s32[8]) -> f32[8] {{
  %p.21 = f32[8]{{0}} parameter(0)
  %p.22 = s32[8]{{0}} parameter(1)
  ROOT %call = f32[8]{{0}} call(%p.21, %p.22), to_apply=%called
}}
ENTRY %main (a: f32[8], b: s32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = s32[8]{{0}} parameter(1)
  %start = ({PAIR}, f32[8]{{0}}, u32[]) async-start(%a, %b), calls=%offloaded
  ROOT %done = f32[8]{{0}} async-done(%start), calls=%offloaded
}}
"""


def _became(read: Read, place: Place, after: str = PARTS) -> tuple[Relation, tuple[Place, ...]]:
    pairing = match(read(WHOLE), read(after)).pairing_before(place)
    assert pairing is not None
    return pairing.relation, pairing.after


def test_a_tuple_is_split_into_the_parameters_of_its_elements(read: Read) -> None:
    """Where a tuple is put in its place, and where its caller passes the elements on."""
    for computation, name in (("called", "1"), ("offloaded", "2")):
        parts = tuple(Place(computation, f"p.{name}{number}") for number in (1, 2))
        assert _became(read, Place(computation, f"p.{name}")) == (Relation.SPLIT, parts)


def test_the_tuple_that_holds_the_parts_continues_no_parameter(read: Read) -> None:
    assert Place("called", "held") in match(read(WHOLE), read(PARTS)).added


def test_parameters_of_other_shapes_are_no_parts(read: Read) -> None:
    other = PARTS.replace("%p.22 = s32", "%p.22 = u32").replace("p.22: s32", "p.22: u32")
    assert _became(read, Place("offloaded", "p.2"), other)[0] is not Relation.SPLIT
