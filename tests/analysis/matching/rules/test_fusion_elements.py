"""Results of fusions of several results."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.fusion_elements import are_other_results
from xlareport.analysis.matching.search.pairing import Place
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


_OP = ', metadata={op_name="mul"}'
_TWO_FUSIONS = f"""
HloModule m

%double (p: f32[8]) -> (f32[8], f32[8]) {{
  %p = f32[8]{{0}} parameter(0)
  %sine = f32[8]{{0}} sine(%p)
  %cosine = f32[8]{{0}} cosine(%p)
  ROOT %both = (f32[8]{{0}}, f32[8]{{0}}) tuple(%sine, %cosine)
}}

%single (q: f32[8]) -> f32[8] {{
  %q = f32[8]{{0}} parameter(0)
  ROOT %tanh = f32[8]{{0}} tanh(%q)
}}

ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8], f32[8]) {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %first = (f32[8]{{0}}, f32[8]{{0}}) fusion(%a), kind=kLoop, calls=%double
  %element.0 = f32[8]{{0}} get-tuple-element(%first), index=0{_OP}
  %element.1 = f32[8]{{0}} get-tuple-element(%first), index=1
  %second = f32[8]{{0}} fusion(%b), kind=kLoop, calls=%single
  %exp = f32[8]{{0}} exponential(%element.0)
  ROOT %out = (f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) tuple(%exp, %element.1, %second)
}}
"""
_FURTHER_RESULTS = f"""
HloModule m

%triple (p: f32[8], q.1: f32[8]) -> (f32[8], f32[8], f32[8]) {{
  %p = f32[8]{{0}} parameter(0)
  %q.1 = f32[8]{{0}} parameter(1)
  %sine = f32[8]{{0}} sine(%p)
  %cosine = f32[8]{{0}} cosine(%p)
  %abs = f32[8]{{0}} abs(%q.1)
  ROOT %all = (f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) tuple(%abs, %sine, %cosine)
}}

%single.1 (q: f32[8]) -> (f32[8], f32[8]) {{
  %q = f32[8]{{0}} parameter(0)
  %tanh = f32[8]{{0}} tanh(%q)
  %floor = f32[8]{{0}} floor(%q)
  ROOT %two = (f32[8]{{0}}, f32[8]{{0}}) tuple(%tanh, %floor)
}}

ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8], f32[8]) {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %second = (f32[8]{{0}}, f32[8]{{0}}) fusion(%b), kind=kLoop, calls=%single.1
  %element.7 = f32[8]{{0}} get-tuple-element(%second), index=0{_OP}
  %element.8 = f32[8]{{0}} get-tuple-element(%second), index=1
  %third = (f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) fusion(%a, %element.8), kind=kLoop, calls=%triple
  %element.5 = f32[8]{{0}} get-tuple-element(%third), index=1
  %element.6 = f32[8]{{0}} get-tuple-element(%third), index=2
  %exp = f32[8]{{0}} exponential(%element.5)
  ROOT %out = (f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) tuple(%exp, %element.6, %element.7)
}}
"""


def test_an_element_of_a_fusion_that_got_further_results_continues_none_of_another(
    read: Read,
) -> None:
    matching = match(read(_TWO_FUSIONS), read(_FURTHER_RESULTS))
    assert matching.partner_after(Place("main", "element.0")) != Place("main", "element.7")


def test_an_element_of_a_fusion_that_was_taken_in_is_what_is_read_in_its_place(read: Read) -> None:
    """The other fusion has all results now."""
    taken_in = _FURTHER_RESULTS.replace("%third = ", "%second = ").replace("(%third)", "(%second)")
    taken_in = taken_in.replace("(%second), index=1", f"(%second), index=1{_OP}")
    taken_in = "".join(
        line
        for line in taken_in.splitlines(keepends=True)
        if "calls=%single.1" not in line
        and "element.7 =" not in line
        and "%element.8 =" not in line
    )
    taken_in = taken_in.replace("fusion(%a, %element.8)", "fusion(%a, %b)").replace(
        "%element.6, %element.7)", "%element.6, %element.5)"
    )
    matching = match(read(_TWO_FUSIONS), read(taken_in))
    assert matching.partner_after(Place("main", "element.0")) == Place("main", "element.5")
