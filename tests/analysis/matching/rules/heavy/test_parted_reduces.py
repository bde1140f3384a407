"""Reduces of a concatenation that became reduces of its operands, combined."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """HloModule m

%most (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %m = f32[] maximum(%p, %q)
}

ENTRY %main (a: f32[8], b: f32[4]) -> f32[] {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %least = f32[] constant(-inf)
"""
_JOINED = f"""{_HEAD}  %c = f32[12]{{0}} concatenate(%a, %b), dimensions={{0}}
  %r = f32[] reduce(%c, %least), dimensions={{0}}, to_apply=%most
  %end = f32[] maximum(%r, %least)
  ROOT %out = f32[] negate(%end)
}}
"""
_PARTED = f"""{_HEAD}  %r.1 = f32[] reduce(%a, %least), dimensions={{0}}, to_apply=%most
  %r.2 = f32[] reduce(%b, %least), dimensions={{0}}, to_apply=%most
  %both = f32[] map(%r.1, %r.2), dimensions={{}}, to_apply=%most
  ROOT %out = f32[] negate(%both)
}}
"""


def test_the_reduces_of_the_operands_and_what_combines_them_do_its_work(read: Read) -> None:
    matching = match(read(_JOINED), read(_PARTED))
    pairing = matching.pairing_before(Place("main", "r"))
    assert pairing is not None
    assert {place.instruction for place in pairing.after} == {"r.1", "r.2", "both"}
    assert matching.partner_after(Place("main", "end")) is None
