"""Collectives in loops of unknown trip count."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.collectives.counted_once import LoopCountedOnce, find_loops_counted_once
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
