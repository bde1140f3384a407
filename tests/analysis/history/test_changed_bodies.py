"""Loops whose bodies lose heavy work or get some, and fusions whose matmul is turned."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.search.pairing import Place

REDUCED = """HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

body {
  p = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[64] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  e = f32[64] exponential(v)
  r = f32[64] all-reduce(e), replica_groups={}, to_apply=add
  ROOT t = (s32[], f32[64]) tuple(j, r)
}

cond {
  p.1 = (s32[], f32[64]) parameter(0)
  i.1 = s32[] get-tuple-element(p.1), index=0
  n = s32[] constant(10)
  ROOT c = pred[] compare(i.1, n), direction=LT
}

ENTRY main {
  a = f32[64] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[64]) tuple(zero, a)
  while.1 = (s32[], f32[64]) while(init), condition=cond, body=body
  out = f32[64] get-tuple-element(while.1), index=1
  ROOT o = f32[64] negate(out)
}"""
_LINE = "  r = f32[64] all-reduce(e), replica_groups={}, to_apply=add\n"
LOCAL = REDUCED.replace(_LINE, "").replace("tuple(j, r)", "tuple(j, e)")
RENAMED = LOCAL.replace("while.1", "while.2").replace("body {", "body.2 {")
RENAMED = RENAMED.replace("body=body", "body=body.2")
OUTSIDE = LOCAL.replace("  ROOT o = f32[64] negate(out)", f"{_LINE}  ROOT o = f32[64] negate(r)")
OUTSIDE = OUTSIDE.replace("all-reduce(e)", "all-reduce(out)")


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (REDUCED, LOCAL, "its body lost %r"),
        (REDUCED, RENAMED, "%while.1 → %while.2; its body lost %r"),
        (LOCAL, REDUCED, "its body has the new %r"),
        (REDUCED, OUTSIDE, "moved out of its body: %r"),
        (OUTSIDE, REDUCED, "moved into its body: %r"),
    ],
)
def test_a_loop_tells_what_its_body_lost_and_got(before: str, after: str, why: str) -> None:
    """Its own line stays the same, apart from names."""
    snapshots = SnapshotSequence([parse_module(before), parse_module(after)])
    events = history(snapshots, 0, Place("main", "while.1"))
    assert [(event.event, event.why) for event in events[1:-1]] == [(Event.CHANGED, why)]
    assert events[1].confidence != "exact"


def test_a_loop_whose_body_is_only_renamed_has_no_such_event() -> None:
    renamed = REDUCED.replace("while.1", "while.2").replace("body {", "body.2 {")
    renamed = renamed.replace("body=body", "body=body.2")
    snapshots = SnapshotSequence([parse_module(REDUCED), parse_module(renamed)])
    events = history(snapshots, 0, Place("main", "while.1"))
    assert [event.event for event in events[1:-1]] == [Event.RENAMED]


FUSED = """HloModule m

held {
  p = f32[32,16] parameter(0)
  q = f32[16,128] parameter(1)
  ROOT d = f32[32,128] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

ENTRY main {
  a = f32[32,16] parameter(0)
  b = f32[16,128] parameter(1)
  ROOT f = f32[32,128] fusion(a, b), kind=kCustom, calls=held
}"""
SWAPPED = FUSED.replace(
    "  ROOT d = f32[32,128] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
    "  e = f32[128,32]{0,1} dot(q, p), lhs_contracting_dims={0}, rhs_contracting_dims={1}\n"
    "  ROOT t = f32[32,128] bitcast(e)\n",
)


def test_a_fusion_tells_that_the_operands_of_its_matmul_were_swapped() -> None:
    """`gemm-fusion-swap-operands` changes only what the fusion calls."""
    snapshots = SnapshotSequence([parse_module(FUSED), parse_module(SWAPPED)])
    events = history(snapshots, 0, Place("main", "f"))
    assert [event.why for event in events[1:-1]] == ["has the operands swapped of %e"]
