"""What a new fusion took in, apart from what it holds a copy of."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.staying import list_staying
from xlareport.analysis.steps.step import step

_BEFORE = """HloModule m

ENTRY main {
  a = f32[8] parameter(0)
  b = f32[8] negate(a)
  c = f32[] constant(2)
  d = f32[8] broadcast(c), dimensions={}
  e = f32[8] multiply(b, d)
  f = f32[8] tanh(e)
  g = f32[8] KEPT
  ROOT out = (f32[8], f32[8]) tuple(f, g)
}
"""
_AFTER = """HloModule m

fused {
  p = f32[8] parameter(0)
  b.1 = f32[8] negate(p)
  c.1 = f32[] constant(2)
  d.1 = f32[8] broadcast(c.1), dimensions={}
  e.1 = f32[8] multiply(b.1, d.1)
  ROOT f.1 = f32[8] tanh(e.1)
}

ENTRY main {
  a = f32[8] parameter(0)
  LEFT
  my_fusion = f32[8] fusion(a), kind=kLoop, calls=fused
  g = f32[8] KEPT
  ROOT out = (f32[8], f32[8]) tuple(my_fusion, g)
}
"""
_CONSTANT = "c = f32[] constant(2)"
_BROADCAST = f"{_CONSTANT}\n  d = f32[8] broadcast(c), dimensions={{}}"


@pytest.mark.parametrize(
    ("left", "kept", "counted", "named"),
    [
        ("", "sine(a)", "5 instructions;", "5 instructions, including `%b`."),
        (
            _BROADCAST,
            "divide(a, d)",
            "3 instructions and cloned 1 broadcast and 1 constant;",
            "3 instructions, including `%b`, and copies of `%c` and `%d`.",
        ),
        (
            f"{_BROADCAST}\n  b = f32[8] negate(a)",
            "divide(d, b)",
            "2 instructions and cloned 1 negate, 1 broadcast and 1 constant;",
            "`%e`, `%f` and copies of 3 instructions, including `%b`.",
        ),
        (
            f"{_CONSTANT}\n  h = f32[8] broadcast(c), dimensions={{}}",
            "divide(a, h)",
            "4 instructions and cloned 1 constant;",
            "4 instructions, including `%b`, and a copy of `%c`.",
        ),
    ],
)
def test_what_stays_outside_a_new_fusion_was_copied(
    left: str, kept: str, counted: str, named: str
) -> None:
    before = _BEFORE.replace("KEPT", kept)
    if "h)" in kept:
        before = before.replace("  f = ", "  h = f32[8] broadcast(c), dimensions={}\n  f = ")
    after = _AFTER.replace("LEFT", left).replace("KEPT", kept)
    headline = step(parse_module(before), parse_module(after), "fusion").headline
    assert f"created 1 fusion from {counted}" in headline, "each is counted once"
    assert f"fuses {named}" in headline


def test_what_is_left_without_users_does_not_stay() -> None:
    before = parse_module(_BEFORE.replace("KEPT", "sine(a)"))
    after = parse_module(_AFTER.replace("LEFT", _BROADCAST).replace("KEPT", "sine(a)"))
    places = [Place("main", name) for name in ("c", "d", "g")]
    assert list(list_staying(match(before, after), places)) == [Place("main", "g")]


_CALLED = """HloModule m

body {
  p = f32[8] parameter(0)
  c = f32[] constant(2)
  d = f32[8] broadcast(c), dimensions={}
  ROOT e = f32[8] multiply(p, d)
}

ENTRY main {
  a = f32[8] parameter(0)
  b = f32[8] sine(a)
  o = f32[8] call(b), to_apply=body
  ROOT t = f32[8] tanh(o)
}
"""
_NESTED = """HloModule m

inner {
  p.1 = f32[8] parameter(0)
  c.1 = f32[] constant(2)
  d.1 = f32[8] broadcast(c.1), dimensions={}
  ROOT e.1 = f32[8] multiply(p.1, d.1)
}

outer {
  q = f32[8] parameter(0)
  b.1 = f32[8] sine(q)
  nested = f32[8] fusion(b.1), kind=kLoop, calls=inner
  ROOT t.1 = f32[8] tanh(nested)
}

ENTRY main {
  a = f32[8] parameter(0)
  ROOT whole = f32[8] fusion(a), kind=kLoop, calls=outer
}
"""


def test_what_a_call_held_went_into_the_fusion_that_continues_its_computation() -> None:
    change = step(parse_module(_CALLED), parse_module(_NESTED))
    assert change.matching is not None
    assert change.matching.computations["body"] == "inner"
    assert not any(row.copied for row in change.changes)
