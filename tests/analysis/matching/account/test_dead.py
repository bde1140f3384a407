"""What nothing depended on is dead, also in fusions."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import ChangeCause, Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _fused(name: str, lines: str) -> str:
    head = f"%{name} (p.{name}: f32[8]) -> f32[8] {{"
    return f"{head}\n  %p.{name} = f32[8]{{0}} parameter(0)\n{lines}}}\n"


def _entry(lines: str, root: str) -> str:
    return (
        "ENTRY %main (a: f32[8]) -> f32[8] {\n  %a = f32[8]{0} parameter(0)\n"
        f"{lines}  ROOT %out = f32[8]{{0}} negate(%{root})\n}}\n"
    )


_DEAD = _fused(
    "dead",
    "  %unread = f32[8]{0} cosine(%p.dead)\n"
    "  %x.1 = f32[8]{0} exponential(%p.dead)\n"
    "  ROOT %x.2 = f32[8]{0} tanh(%x.1)\n",
)
_LIVING = _fused(
    "living",
    "  %x.3 = f32[8]{0} exponential(%p.living)\n"
    "  %x.4 = f32[8]{0} tanh(%x.3)\n"
    "  ROOT %x.5 = f32[8]{0} sine(%x.4)\n",
)
_CALL = "  %n = f32[8]{0} fusion(%a), kind=kLoop, calls=%living\n"
_CALL_OF_DEAD = "  %f = f32[8]{0} fusion(%a), kind=kLoop, calls=%dead\n"
_READER = "  %reader = f32[8]{0} abs(%f)\n"


def _causes(read: Read, before: str, after: str) -> dict[str, ChangeCause | None]:
    matching = match(read(before), read(after))
    return {
        place.instruction: pairing.cause
        for pairing in matching.pairings
        if not pairing.after
        for place in pairing.before
    }


@pytest.mark.parametrize("reader", ["", _READER], ids=["unread", "read by what is dead"])
def test_what_a_dead_fusion_holds_is_dead_though_another_holds_the_same(
    reader: str, read: Read
) -> None:
    before = _DEAD + _LIVING + _entry(_CALL + _CALL_OF_DEAD + reader, "n")
    after = (_LIVING + _entry(_CALL, "n")).replace("x.", "y.").replace("living", "renamed")
    causes = _causes(read, before, after)
    assert causes["unread"] is ChangeCause.UNREAD
    assert causes["x.1"] is causes["x.2"] is causes["p.dead"] is ChangeCause.UNUSED
    assert causes["f"] is (ChangeCause.UNUSED if reader else ChangeCause.UNREAD)


_TWO_OUTPUTS = """
%two (p: f32[8], q: f32[8]) -> (f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %i.1 = f32[8]{0} exponential(%p)
  %i.2 = f32[8]{0} tanh(%i.1)
  %kept = f32[8]{0} sine(%q)
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%kept, %i.2)
}
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %f = (f32[8]{0}, f32[8]{0}) fusion(%a, %b), kind=kLoop, calls=%two
  %first = f32[8]{0} get-tuple-element(%f), index=0
  %second = f32[8]{0} get-tuple-element(%f), index=1
  ROOT %out = f32[8]{0} negate(%first)
}
"""
_ONE_OUTPUT = """
%one (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %kept = f32[8]{0} sine(%q)
}
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %f = f32[8]{0} fusion(%b), kind=kLoop, calls=%one
  ROOT %out = f32[8]{0} negate(%f)
}
"""


def test_what_leads_to_an_output_of_a_fusion_that_nothing_reads_is_dead(read: Read) -> None:
    causes = _causes(read, _TWO_OUTPUTS, _ONE_OUTPUT)
    assert causes["second"] is ChangeCause.UNREAD
    assert causes["i.1"] is causes["i.2"] is ChangeCause.UNUSED
    assert causes["r"] is None


def test_an_output_that_something_reads_is_not_dead(read: Read) -> None:
    before = _TWO_OUTPUTS.replace("negate(%first)", "add(%first, %second)")
    causes = _causes(read, before, _ONE_OUTPUT)
    assert causes["i.2"] is None


def test_a_merged_fusion_is_not_dead(read: Read) -> None:
    before = _DEAD + _entry(_CALL_OF_DEAD + "  %s = f32[8]{0} sine(%f)\n", "s")
    matching = match(read(before), read(_LIVING + _entry(_CALL, "n")))
    pairing = matching.pairing_before(Place("dead", "x.1"))
    assert pairing is not None
    assert pairing.after == (Place("living", "x.3"),)


_SUM = """%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}
"""


def test_what_only_a_dead_reduction_applied_had_no_live_callers(read: Read) -> None:
    zero = "  %zero = f32[] constant(0)\n"
    reduce = "  %total = f32[] reduce(%a, %zero), dimensions={0}, to_apply=%sum\n"
    causes = _causes(read, _SUM + _entry(zero + reduce, "a"), _entry("", "a"))
    assert causes["total"] is ChangeCause.UNREAD
    assert [causes[name] for name in ("x", "y", "s")] == [ChangeCause.UNCALLED] * 3
