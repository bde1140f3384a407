"""Loops whose sums over devices left them: the former start values are added behind the loop."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

_LOOP = """HloModule m

plus {
  s = f32[] parameter(0)
  t = f32[] parameter(1)
  ROOT u = f32[] add(s, t)
}

body {
  p = (s32[], f32[8], f32[8]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(n, one)
  total = f32[8] get-tuple-element(p), index=1
  x = f32[8] get-tuple-element(p), index=2
  share = f32[8] sine(x)
  SENT
  more = f32[8] add(total, READ)
  ROOT out = (s32[], f32[8], f32[8]) tuple(next, more, x)
}

condition {
  q = (s32[], f32[8], f32[8]) parameter(0)
  k = s32[] get-tuple-element(q), index=0
  six = s32[] constant(6)
  ROOT goes = pred[] compare(k, six), direction=LT
}

ENTRY main {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  zero = s32[] constant(0)
  START
  loop = (s32[], f32[8], f32[8]) while(start), condition=condition, body=body
  last = f32[8] get-tuple-element(loop), index=1
  END
}
"""
_SENT = "sent = f32[8] all-reduce(share), replica_groups={{0,1}}, to_apply=plus"
_BEHIND = """all = f32[8] all-reduce(last), replica_groups={{0,1}}, to_apply=plus
  whole = f32[8] add(GIVEN, all)
  ROOT end = f32[8] negate(whole)"""


def _module(sent: str, read: str, start: str, end: str) -> HloModule:
    text = _LOOP.replace("SENT", sent).replace("READ", read)
    return parse_module(text.replace("START", start).replace("END", end))


_STARTS = "start = (s32[], f32[8], f32[8]) tuple(zero, {}, b)"
_BEFORE = _module(_SENT, "sent", _STARTS.format("a"), "ROOT end = f32[8] negate(last)")


@pytest.mark.parametrize(
    ("filled", "words"),
    [
        ("none = f32[8] constant({0, 0, 0, 0, 0, 0, 0, 0})", "zeros, %none"),
        ("nil = f32[] constant(0)\n  none = f32[8] broadcast(nil), dimensions={}", "zeros, %none"),
        ("none = f32[8] constant({...})", "%none"),
    ],
)
def test_the_former_start_is_added_behind_the_loop(filled: str, words: str) -> None:
    start = f"{filled}\n  {_STARTS.format('none')}"
    after = _module("", "share", start, _BEHIND.replace("GIVEN", "a"))
    pairings = {pairing.after[0]: pairing for pairing in match(_BEFORE, after).pairings}
    added = f"it adds %a, from which the loop started before; %loop starts from {words} now"
    assert pairings[Place("main", "whole")].reason == added
    assert pairings[Place("main", "none")].reason == "%loop starts from it instead of %a"
    change = step(_BEFORE, after)
    assert "starts from" in " ".join((change.headline, *change.account))


def test_another_value_added_behind_the_loop_is_not_its_start() -> None:
    start = f"none = f32[8] constant({{...}})\n  {_STARTS.format('none')}"
    after = _module("", "share", start, _BEHIND.replace("GIVEN", "b"))
    reasons = [str(pairing.reason) for pairing in match(_BEFORE, after).pairings]
    assert not any("starts from" in reason for reason in reasons)
