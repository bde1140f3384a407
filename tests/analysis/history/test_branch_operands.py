"""Conditionals whose branches get tuples of other elements."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place

GIVEN = """HloModule m

yes {
  p = (f32[8], f32[8]) parameter(0)
  x = f32[8] get-tuple-element(p), index=0
  y = f32[8] get-tuple-element(p), index=1
  ROOT s = f32[8] add(x, y)
}

no {
  q = (f32[8]) parameter(0)
  z = f32[8] get-tuple-element(q), index=0
  ROOT n = f32[8] negate(z)
}

ENTRY main {
  c = pred[] parameter(0)
  a = f32[8] parameter(1)
  b = f32[8] parameter(2)
  t = (f32[8], f32[8]) tuple(a, b)
  u = (f32[8]) tuple(a)
  k = f32[8] conditional(c, t, u), true_computation=yes, false_computation=no
  ROOT o = f32[8] exponential(k)
}"""
FEWER = (
    GIVEN.replace("p = (f32[8], f32[8])", "p = (f32[8])")
    .replace("  y = f32[8] get-tuple-element(p), index=1\n", "")
    .replace("add(x, y)", "add(x, x)")
    .replace("t = (f32[8], f32[8]) tuple(a, b)", "t = (f32[8]) tuple(a)")
)
NARROW = (
    GIVEN.replace("q = (f32[8])", "q = (bf16[8])")
    .replace("z = f32[8]", "z = bf16[8]")
    .replace("negate(z)", "convert(z)")
    .replace("u = (f32[8]) tuple(a)", "h = bf16[8] convert(a)\n  u = (bf16[8]) tuple(h)")
)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (FEWER, "%yes gets 1 element instead of 2"),
        (NARROW, "%no gets 1 of 1 elements, f32[8] → bf16[8]"),
    ],
)
def test_a_conditional_tells_what_its_branches_get(after: str, why: str) -> None:
    snapshots = SnapshotSequence([parse_module(GIVEN), parse_module(after)])
    events = history(snapshots, 0, Place("main", "k"))
    assert [(event.event, event.why) for event in events[1:-1]] == [(Event.CHANGED, why)]


def test_other_values_of_the_same_shapes_are_no_event() -> None:
    other = GIVEN.replace("tuple(a, b)", "tuple(a, w)").replace(
        "  t =", "  w = f32[8] negate(b)\n  t ="
    )
    snapshots = SnapshotSequence([parse_module(GIVEN), parse_module(other)])
    assert len(history(snapshots, 0, Place("main", "k"))) == 2
