"""Copies of parts of what was expanded, in further fusions."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_OP = 'metadata={op_name="join"}'
_WHOLE = f"""
HloModule m

ENTRY %main (a: f32[4], b: f32[4]) -> (f32[8], f32[8]) {{
  %a = f32[4]{{0}} parameter(0)
  %b = f32[4]{{0}} parameter(1)
  %concatenate.1 = f32[8]{{0}} concatenate(%a, %b), dimensions={{0}}, {_OP}
  %less = f32[8]{{0}} negate(%concatenate.1)
  %wave = f32[8]{{0}} sine(%concatenate.1)
  ROOT %out = (f32[8]{{0}}, f32[8]{{0}}) tuple(%less, %wave)
}}
"""


def _fused(ending: str, last: str, op: str = _OP) -> str:
    """Return a fused computation that pads and adds, and does one more operation."""
    return f"""
%fused.{ending} (p.{ending}: f32[4], q.{ending}: f32[4]) -> f32[8] {{
  %p.{ending} = f32[4]{{0}} parameter(0)
  %q.{ending} = f32[4]{{0}} parameter(1)
  %zero.{ending} = f32[] constant(0)
  %low.{ending} = f32[8]{{0}} pad(%p.{ending}, %zero.{ending}), padding=0_4, {op}
  %high.{ending} = f32[8]{{0}} pad(%q.{ending}, %zero.{ending}), padding=4_0, {op}
  %sum.{ending} = f32[8]{{0}} add(%low.{ending}, %high.{ending}), {op}
  ROOT {last}(%sum.{ending})
}}
"""


def _apart(op: str = _OP) -> str:
    return f"""
HloModule m
{_fused("1", "%less = f32[8]{0} negate")}{_fused("2", "%wave = f32[8]{0} sine", op)}
ENTRY %main (a: f32[4], b: f32[4]) -> (f32[8], f32[8]) {{
  %a = f32[4]{{0}} parameter(0)
  %b = f32[4]{{0}} parameter(1)
  %fusion.1 = f32[8]{{0}} fusion(%a, %b), kind=kLoop, calls=%fused.1
  %fusion.2 = f32[8]{{0}} fusion(%a, %b), kind=kLoop, calls=%fused.2
  ROOT %out = (f32[8]{{0}}, f32[8]{{0}}) tuple(%fusion.1, %fusion.2)
}}
"""


def test_copies_of_parts_in_another_fusion_are_of_the_expansion(read: Read) -> None:
    pairing = match(read(_WHOLE), read(_apart())).pairing_before(Place("main", "concatenate.1"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    assert pairing.after[0] == Place("fused.1", "sum.1")
    place = Place("fused.2", "low.2")
    assert place in pairing.after
    known = pairing.known_of(pairing.before[0], place)
    assert known.reason == "a further copy of %low.1, into which it was expanded"


def test_literals_are_no_copies_of_parts(read: Read) -> None:
    pairing = match(read(_WHOLE), read(_apart())).pairing_after(Place("fused.2", "zero.2"))
    assert pairing is not None
    assert pairing.relation is not Relation.EXPANDED


def test_the_fusion_of_copies_is_told_with_what_it_holds(read: Read) -> None:
    known = step(read(_WHOLE), read(_apart())).changes
    fused = {change.after for change in known if change.kind == "fused"}
    assert Place("main", "fusion.2") in fused


def test_what_has_another_framework_op_is_no_copy(read: Read) -> None:
    other = 'metadata={op_name="other"}'
    pairing = match(read(_WHOLE), read(_apart(other))).pairing_after(Place("fused.2", "sum.2"))
    assert pairing is None or pairing.relation is not Relation.EXPANDED
