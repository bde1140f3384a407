"""Elements of fusions that got further results."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_OP = ', metadata={op_name="mul"}'
_BEFORE = f"""
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
_AFTER = f"""
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
    matching = match(read(_BEFORE), read(_AFTER))
    assert matching.partner_after(Place("main", "element.0")) != Place("main", "element.7")


def test_an_element_of_a_fusion_that_was_taken_in_is_what_is_read_in_its_place(read: Read) -> None:
    """The other fusion has all results now."""
    taken_in = _AFTER.replace("%third = ", "%second = ").replace("(%third)", "(%second)")
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
    matching = match(read(_BEFORE), read(taken_in))
    assert matching.partner_after(Place("main", "element.0")) == Place("main", "element.5")
