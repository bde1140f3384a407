"""Loops that carry fewer elements, and compute them in fusions, behind copies."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _rounds(one: str, two: str, key: str, ending: str) -> str:
    """Return three rounds that mix two values, with endings of names."""
    lines, last = "", (one, two)
    for number in (1, 2, 3):
        names = [f"{name}.{number}{ending}" for name in ("sum", "shift", "mixed")]
        operations = (
            f"add(%{last[0]}, %{last[1]})",
            f"shift-left(%{last[1]}, %{key})",
            f"xor(%{names[0]}, %{names[1]})",
        )
        for name, operation in zip(names, operations, strict=True):
            lines += f"  %{name} = u32[8]{{0}} {operation}\n"
        last = names[0], names[2]
    return lines


_OLD = "(s32[], s32[], u32[8], u32[8], u32[])"
BEFORE = f"""HloModule m

%round (i: s32[], x: u32[8], y: u32[8], k: u32[]) -> (s32[], u32[8], u32[8]) {{
  %i = s32[] parameter(0)
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %x = u32[8]{{0}} parameter(1)
  %y = u32[8]{{0}} parameter(2)
  %k = u32[] parameter(3)
  %key = u32[8]{{0}} broadcast(%k), dimensions={{}}
{_rounds("x", "y", "key", "")}  %first = u32[8]{{0}} add(%sum.3, %key)
  %second = u32[8]{{0}} add(%mixed.3, %key)
  ROOT %t = (s32[], u32[8]{{0}}, u32[8]{{0}}) tuple(%next, %first, %second)
}}

%body (p: {_OLD}) -> {_OLD} {{
  %p = {_OLD} parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %by = s32[] constant(1)
  %n.1 = s32[] add(%n, %by)
  %j = s32[] get-tuple-element(%p), index=1
  %a = u32[8]{{0}} get-tuple-element(%p), index=2
  %b = u32[8]{{0}} get-tuple-element(%p), index=3
  %c = u32[] get-tuple-element(%p), index=4
  %call.1 = (s32[], u32[8]{{0}}, u32[8]{{0}}) call(%j, %a, %b, %c), to_apply=%round
  %j.1 = s32[] get-tuple-element(%call.1), index=0
  %a.1 = u32[8]{{0}} get-tuple-element(%call.1), index=1
  %b.1 = u32[8]{{0}} get-tuple-element(%call.1), index=2
  ROOT %out = {_OLD} tuple(%n.1, %j.1, %a.1, %b.1, %c)
}}

%cond (q: {_OLD}) -> pred[] {{
  %q = {_OLD} parameter(0)
  %m = s32[] get-tuple-element(%q), index=0
  %five = s32[] constant(5)
  ROOT %less = pred[] compare(%m, %five), direction=LT
}}

ENTRY %main (u: u32[8], v: u32[8], w: u32[]) -> (u32[8], u32[8]) {{
  %u = u32[8]{{0}} parameter(0)
  %v = u32[8]{{0}} parameter(1)
  %w = u32[] parameter(2)
  %u.1 = u32[8]{{0}} negate(%u)
  %v.1 = u32[8]{{0}} negate(%v)
  %zero = s32[] constant(0)
  %start = {_OLD} tuple(%zero, %zero, %u.1, %v.1, %w)
  %while.1 = {_OLD} while(%start), condition=%cond, body=%body
  %end.1 = u32[8]{{0}} get-tuple-element(%while.1), index=2
  %end.2 = u32[8]{{0}} get-tuple-element(%while.1), index=3
  ROOT %r = (u32[8]{{0}}, u32[8]{{0}}) tuple(%end.1, %end.2)
}}
"""
_NEW = "(s32[], u32[8], u32[8], u32[])"


def _fused(number: int, root: str) -> str:
    """Return a fusion that computes one result of the rounds, with numbered names."""
    rounds = _rounds(f"p0.{number}", f"p1.{number}", f"wide.{number}", f".{number}")
    rounds = rounds[: rounds.index("  %shift.3")] if number == 7 else rounds
    return f"""%fused.{number} (p0: u32[8], p1: u32[8], p2: u32[]) -> u32[8] {{
  %p0.{number} = u32[8]{{0}} parameter(0)
  %p1.{number} = u32[8]{{0}} parameter(1)
  %p2.{number} = u32[] parameter(2)
  %wide.{number} = u32[8]{{0}} broadcast(%p2.{number}), dimensions={{}}
{rounds.replace("sum", "a").replace("shift", "s").replace("mixed", "m")}\
  ROOT %result.{number} = u32[8]{{0}} add(%{root}, %wide.{number})
}}

"""


AFTER = f"""HloModule m

{_fused(7, "a.3.7")}{_fused(8, "m.3.8")}%body.clone (p.9: {_NEW}) -> {_NEW} {{
  %p.9 = {_NEW} parameter(0)
  %n.9 = s32[] get-tuple-element(%p.9), index=0
  %a.9 = u32[8]{{0}} get-tuple-element(%p.9), index=1
  %b.9 = u32[8]{{0}} get-tuple-element(%p.9), index=2
  %c.9 = u32[] get-tuple-element(%p.9), index=3
  %by.9 = s32[] constant(1)
  %next.9 = s32[] add(%n.9, %by.9)
  %copy.1 = u32[8]{{0}} copy(%a.9)
  %copy.2 = u32[8]{{0}} copy(%b.9)
  %copy.3 = u32[] copy(%c.9)
  %fusion.7 = u32[8]{{0}} fusion(%copy.1, %copy.2, %copy.3), kind=kLoop, calls=%fused.7
  %fusion.8 = u32[8]{{0}} fusion(%copy.1, %copy.2, %copy.3), kind=kLoop, calls=%fused.8
  ROOT %out.9 = {_NEW} tuple(%next.9, %fusion.7, %fusion.8, %copy.3)
}}

%cond.clone (q.9: {_NEW}) -> pred[] {{
  %q.9 = {_NEW} parameter(0)
  %m.9 = s32[] get-tuple-element(%q.9), index=0
  %five.9 = s32[] constant(5)
  ROOT %less.9 = pred[] compare(%m.9, %five.9), direction=LT
}}

ENTRY %main (u: u32[8], v: u32[8], w: u32[]) -> (u32[8], u32[8]) {{
  %u = u32[8]{{0}} parameter(0)
  %v = u32[8]{{0}} parameter(1)
  %w = u32[] parameter(2)
  %u.9 = u32[8]{{0}} not(%u)
  %v.9 = u32[8]{{0}} not(%v)
  %nought = s32[] constant(0)
  %copied = s32[] copy(%nought)
  %start.9 = {_NEW} tuple(%copied, %u.9, %v.9, %w)
  %while.9 = {_NEW} while(%start.9), condition=%cond.clone, body=%body.clone
  %end.8 = u32[8]{{0}} get-tuple-element(%while.9), index=1
  %end.9 = u32[8]{{0}} get-tuple-element(%while.9), index=2
  ROOT %r = (u32[8]{{0}}, u32[8]{{0}}) tuple(%end.8, %end.9)
}}
"""


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("first", {"fused.7/%result.7"}),
        ("second", {"fused.8/%result.8"}),
        ("sum.1", {"fused.7/%a.1.7", "fused.8/%a.1.8"}),
        ("mixed.3", {"fused.8/%m.3.8"}),
    ],
)
def test_results_go_on_in_the_fusions_that_compute_them(
    read: Read, name: str, others: set[str]
) -> None:
    pairing = match(read(BEFORE), read(AFTER)).pairing_before(Place("round", name))
    assert pairing is not None
    assert set(map(str, pairing.after)) == others


def test_a_counter_that_repeats_another_is_merged_with_it(read: Read) -> None:
    matching = match(read(BEFORE), read(AFTER))
    for place in (Place("round", "next"), Place("body", "n.1")):
        assert matching.partner_after(place) == Place("body.clone", "next.9")


def test_what_a_loop_starts_with_goes_on_behind_copies(read: Read) -> None:
    matching = match(read(BEFORE), read(AFTER))
    pairing = matching.pairing_before(Place("main", "zero"))
    assert pairing is not None
    assert pairing.after == (Place("main", "nought"),)
