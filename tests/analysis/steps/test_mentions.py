"""The names of instructions in the account and the examples of a step."""

from msgspec.structs import replace
from tests.analysis.steps.made_change import change
from tests.modules import parse_module

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.mentions import list_mentioned, places_after, places_before
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

HEAD = "HloModule m\n\nENTRY %main (x: f32[8]) -> f32[8] {\n  %x = f32[8]{0} parameter(0)\n"


def module(*lines: str) -> HloModule:
    return parse_module(HEAD + "".join(f"  {line}\n" for line in lines) + "}\n")


def test_what_came_and_what_went_is_mentioned() -> None:
    plain = module("ROOT %r = f32[8]{0} negate(%x)")
    longer = module("%s.1 = f32[8]{0} sine(%x)", "ROOT %r = f32[8]{0} negate(%s.1)")
    for pair in ((plain, longer), (longer, plain)):
        names = list_mentioned(step(*pair, "`pass`"))
        assert {"s.1", "r"} <= {*names}
        assert len(names) == len({*names})


def test_a_fusion_stands_for_its_members() -> None:
    members = (Place("main", "dot.1"), Place("main", "add.2"))
    fused = replace(change(Kind.FUSED), members=members)
    assert (places_before(fused), places_after(fused)) == (members, (fused.after,))
    inlined = replace(change(Kind.INLINED), members=members)
    assert (places_before(inlined), places_after(inlined)) == ((inlined.before,), members)
    assert places_before(replace(change(Kind.ADDED), before=None)) == ()
