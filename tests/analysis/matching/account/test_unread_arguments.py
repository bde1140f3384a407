"""A value that only inlined calls were given, which did not read it."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_CALLED = """
%half (x: f32[8], unread: f32[]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %unread = f32[] parameter(1)
  ROOT %wave = f32[8]{0} sine(%x)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %call.1 = f32[8]{0} call(%a, %zero), to_apply=%half
  ROOT %call.2 = f32[8]{0} call(%call.1, %zero), to_apply=%half
}
"""
_INLINED = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %wave.1 = f32[8]{0} sine(%a)
  ROOT %wave.2 = f32[8]{0} sine(%wave.1)
}
"""


def _reason(before: HloModule, after: HloModule) -> str:
    pairing = match(before, after).pairing_before(Place("main", "zero"))
    assert pairing is not None
    return str(pairing.reason)


def test_inlined_calls_that_do_not_read_a_value_are_named(read: Read) -> None:
    words = "only %call.1 and another call were given it, and did not read it"
    assert _reason(read(_CALLED), read(_INLINED)) == words


def test_a_value_that_something_else_reads_was_not_only_given_to_calls(read: Read) -> None:
    other = _CALLED.replace("%a = f32[8]{0} parameter(0)", "%a = f32[8]{0} parameter(0)")
    other = other.replace("call(%a, %zero)", "call(%more, %zero)").replace(
        "  %call.1",
        "  %fill = f32[8]{0} broadcast(%zero), dimensions={}\n"
        "  %more = f32[8]{0} add(%a, %fill)\n  %call.1",
    )
    assert "did not read it" not in _reason(read(other), read(_INLINED))
