"""The known instruction that the value of a new one leads to."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

ENTRY %main (a: f32[4], b: f32[2]) -> (f32[4], f32[2]) {
  %a = f32[4]{0} parameter(0)
  %b = f32[2]{0} parameter(1)
"""
_TAIL = """
  %first = f32[4]{0} get-tuple-element(%both), index=0
  %second = f32[2]{0} get-tuple-element(%both), index=1
  %u = f32[4]{0} negate(%first)
  %v = f32[2]{0} tanh(%second)
  ROOT %out = (f32[4]{0}, f32[2]{0}) tuple(%u, %v)
}
"""
_APART = f"""{_HEAD}
  %both = (f32[4]{{0}}, f32[2]{{0}}) all-reduce(%a, %b), to_apply=%sum
{_TAIL}"""
_TOGETHER = f"""{_HEAD}
  %all = f32[6]{{0}} concatenate(%a, %b), dimensions={{0}}
  %whole = f32[6]{{0}} all-reduce(%all), to_apply=%sum
  %part.1 = f32[4]{{0}} slice(%whole), slice={{[0:4]}}
  %part.2 = f32[2]{{0}} slice(%whole), slice={{[4:6]}}
  %part.3 = f32[4]{{0}} bitcast(%part.1)
  %part.4 = f32[2]{{0}} bitcast(%part.2)
  %tuple.9 = (f32[4]{{0}}, f32[2]{{0}}) tuple(%part.3, %part.4)
{_TAIL.replace("%both", "%tuple.9")}"""


def test_what_a_new_tuple_holds_leads_to_the_element_that_takes_it(read: Read) -> None:
    matching = match(read(_APART), read(_TOGETHER))
    reasons = {
        name: str(pairing.reason)
        for name in ("part.1", "part.2", "part.4")
        if (pairing := matching.pairing_after(Place("main", name))) is not None
    }
    assert reasons == {
        "part.1": "takes the result of %first out of %whole",
        "part.2": "takes the result of %second out of %whole",
        "part.4": "inserted between %whole and %second",
    }
