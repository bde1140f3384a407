"""Calls of a shared computation, left in computations that continue each other."""

from collections.abc import Callable

from xlareport.analysis.matching.rules import same_calls
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_INNER = """HloModule m
%inner (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  ROOT %sine = f32[4] sine(%x)
}
"""
_BEFORE = """ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4] parameter(0)
  %call.1 = f32[4] call(%a), to_apply=%inner
  ROOT %out = f32[4] negate(%call.1)
}
"""
_COPY = """%copied (b: f32[4]) -> f32[4] {
  %b = f32[4] parameter(0)
  ROOT %call.2 = f32[4] call(%b), to_apply=%inner
}
"""


def _pairs(read: Read, after: str) -> dict[str, str]:
    search = start(read(_INNER + _BEFORE), read(_INNER + after))
    same_calls.same_calls(search)
    return {link.before.instruction.name: link.after.instruction.name for link in search.links}


def test_a_call_goes_on_beside_a_new_caller_of_its_computation(read: Read) -> None:
    assert _pairs(read, _COPY + _BEFORE.replace("call.1", "call.9")) == {"call.1": "call.9"}


def test_of_more_calls_before_than_after_none_is_paired(read: Read) -> None:
    twice = _BEFORE.replace(
        "  ROOT", "  %call.3 = f32[4] call(%call.1), to_apply=%inner\n  ROOT"
    ).replace("negate(%call.1)", "negate(%call.3)")
    search = start(read(_INNER + twice), read(_INNER + _COPY + _BEFORE.replace("call.1", "call.9")))
    same_calls.same_calls(search)
    assert not search.links
