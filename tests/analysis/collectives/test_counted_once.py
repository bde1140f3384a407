"""Collectives in loops of unknown trip count."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.collectives.counted_once import (
    LoopCountedOnce,
    count_per_iteration,
    find_loops_counted_once,
)
from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.cost.work import count_cost

TEXT = """HloModule m, is_scheduled=true, num_partitions=2

cond {
  s = (f32[64], s32[], pred[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  more = pred[] get-tuple-element(s), index=2
  n = s32[] constant(24)
  below = pred[] compare(i, n), direction=LT
  ROOT both = pred[] and(below, more)
}

body {
  s = (f32[64], s32[], pred[]) parameter(0)
  x = f32[64] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  p = pred[] get-tuple-element(s), index=2
  step = s32[] constant(1)
  next = s32[] add(i, step)
  y = f32[64] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  ROOT r = (f32[64], s32[], pred[]) tuple(y, next, p)
}

ENTRY e {
  a = f32[64] parameter(0)
  p = pred[] parameter(1)
  zero = s32[] constant(0)
  b = f32[64] collective-permute(a), channel_id=2, source_target_pairs={{0,1},{1,0}}
  s = (f32[64], s32[], pred[]) tuple(b, zero, p)
  loop = (f32[64], s32[], pred[]) while(s), condition=cond, body=body
  ROOT out = f32[64] get-tuple-element(loop), index=0
}
"""


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        (TEXT, (LoopCountedOnce("loop", 24, 1),)),
        (TEXT.replace("and(below, more)", "and(more, more)"), (LoopCountedOnce("loop", None, 1),)),
        (TEXT.replace("ROOT both = pred[] and(below, more)", "ROOT both = pred[] copy(below)"), ()),
    ],
)
def test_loops_of_unknown_trip_count_are_named_with_their_bound(
    text: str, loops: tuple[LoopCountedOnce, ...]
) -> None:
    module = parse_module(text)
    keys = [collective.key for collective in find_collectives(module)]
    assert len(keys) == 2
    assert find_loops_counted_once(module, count_cost(module), keys) == loops


NESTED = """HloModule m, is_scheduled=true, num_partitions=2

six {
  s = (f32[64], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  n = s32[] constant(6)
  ROOT below = pred[] compare(i, n), direction=LT
}

layer {
  s = (f32[64], s32[]) parameter(0)
  x = f32[64] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  step = s32[] constant(1)
  next = s32[] add(i, step)
  y = f32[64] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  ROOT r = (f32[64], s32[]) tuple(y, next)
}

until {
  s = (f32[64], pred[]) parameter(0)
  ROOT more = pred[] get-tuple-element(s), index=1
}

token {
  s = (f32[64], pred[]) parameter(0)
  x = f32[64] get-tuple-element(s), index=0
  p = pred[] get-tuple-element(s), index=1
  zero = s32[] constant(0)
  t = (f32[64], s32[]) tuple(x, zero)
  w = (f32[64], s32[]) while(t), condition=six, body=layer
  y = f32[64] get-tuple-element(w), index=0
  ROOT r = (f32[64], pred[]) tuple(y, p)
}

ENTRY e {
  a = f32[64] parameter(0)
  p = pred[] parameter(1)
  t = (f32[64], pred[]) tuple(a, p)
  tokens = (f32[64], pred[]) while(t), condition=until, body=token
  ROOT out = f32[64] get-tuple-element(tokens), index=0
}
"""
BRANCH = (
    "  w = (f32[64], s32[]) conditional(p, t, t), true_computation=layer, false_computation=other\n"
)


def test_executions_count_per_iteration_of_a_loop_of_unknown_trip_count() -> None:
    module = parse_module(NESTED)
    counts = count_cost(module).trip_counts
    assert count_per_iteration(module, counts, "layer") == 6
    assert count_per_iteration(module, counts, "six") == 7
    assert count_per_iteration(module, counts, "token") == 1
    assert count_per_iteration(module, counts, "e") is None


def test_executions_per_iteration_are_not_known_in_a_branch() -> None:
    text = "".join(
        BRANCH if line.startswith("  w = ") else line for line in NESTED.splitlines(keepends=True)
    )
    other = NESTED[NESTED.index("layer {") : NESTED.index("until {")].replace("layer", "other")
    module = parse_module(text.replace("until {", f"{other}until {{"))
    assert count_per_iteration(module, count_cost(module).trip_counts, "layer") is None
