"""Results of fusions of several results."""

from collections.abc import Callable

from xlareport.analysis.matching.rules.fusion_elements import are_other_results
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_PAIR = "(f32[8]{0}, f32[8]{0})"
_BEFORE = f"""
HloModule m
%sine (p.1: f32[8]) -> f32[8] {{
  %p.1 = f32[8]{{0}} parameter(0)
  ROOT %s = f32[8]{{0}} sine(%p.1)
}}
%cosines (p.2: f32[8]) -> (f32[8], f32[8]) {{
  %p.2 = f32[8]{{0}} parameter(0)
  %c = f32[8]{{0}} cosine(%p.2)
  %e = f32[8]{{0}} exponential(%p.2)
  ROOT %t.2 = {_PAIR} tuple(%c, %e)
}}
ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {{
  %x = f32[8]{{0}} parameter(0)
  %y = f32[8]{{0}} parameter(1)
  %a = {_PAIR} fusion(%x), kind=kLoop, calls=%cosines
  %gte.1 = f32[8]{{0}} get-tuple-element(%a), index=0
  %b = f32[8]{{0}} fusion(%y), kind=kLoop, calls=%sine
  ROOT %out = {_PAIR} tuple(%gte.1, %b)
}}
"""
_AFTER = f"""
HloModule m
%sine (p.1: f32[8]) -> (f32[8], f32[8]) {{
  %p.1 = f32[8]{{0}} parameter(0)
  %s = f32[8]{{0}} sine(%p.1)
  %n = f32[8]{{0}} negate(%s)
  ROOT %t.1 = {_PAIR} tuple(%s, %n)
}}
ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {{
  %x = f32[8]{{0}} parameter(0)
  %y = f32[8]{{0}} parameter(1)
  %b = {_PAIR} fusion(%y), kind=kLoop, calls=%sine
  %gte.5 = f32[8]{{0}} get-tuple-element(%b), index=0
  %gte.6 = f32[8]{{0}} get-tuple-element(%b), index=1
  ROOT %out = {_PAIR} tuple(%gte.6, %gte.5)
}}
"""


def _node(side: Side, name: str) -> Node:
    return next(node for node in side.nodes if node.instruction.name == name)


def test_the_first_element_of_what_got_a_second_result_continues_no_other(read: Read) -> None:
    """What computes it is the former single result; the second may be of anything."""
    search = start(read(_BEFORE), read(_AFTER), same_program=True)
    former = _node(search.before, "gte.1")
    first, second = (_node(search.after, f"gte.{place}") for place in (5, 6))
    assert not are_other_results(search, former, first)
    sines = _node(search.before, "s"), _node(search.after, "s")
    assert search.link(*sines, Grade.EXACT, "the same name")
    assert are_other_results(search, former, first)
    assert not are_other_results(search, former, second)
