"""Waits for the ends of asynchronous items."""

from pathlib import Path

import pytest
from tests.analysis.skeleton.program import parsed

from xlareport.skeleton import module_skeleton, skeleton_text

COPIED = """HloModule jit_f, is_scheduled=true, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[1024,1024] parameter(0)
  first = (f32[1024,1024]{1,0:S(1)}, f32[1024,1024]{1,0}, u32[]) copy-start(x)
  second = (f32[1024,1024]{1,0:S(1)}, f32[1024,1024]{1,0}, u32[]) copy-start(x)
  first.done = f32[1024,1024]{1,0:S(1)} copy-done(first)
  sum = f32[1024,1024] all-reduce(first.done), replica_groups={{0,1,2,3}}, to_apply=add
  second.done = f32[1024,1024]{1,0:S(1)} copy-done(second)
  t = f32[1024,1024] tanh(sum)
  last = (f32[1024,1024]{1,0}, f32[1024,1024]{1,0:S(1)}, u32[]) copy-start(second.done)
  last.done = f32[1024,1024]{1,0} copy-done(last)
  ROOT r = (f32[1024,1024], f32[1024,1024]) tuple(t, last.done)
}
"""


def test_copies_that_overlap_nothing_are_waited_for(tmp_path: Path) -> None:
    skeleton = module_skeleton(parsed(tmp_path, COPIED))
    items = {item.name: item for item in skeleton.items}
    alone = items["first"].seconds or 0.0
    assert alone > 0.0
    waits = [items[f"{name}.done"].seconds for name in ("first", "second", "last")]
    assert waits == pytest.approx([alone, 0.0, alone])
    kept = [items[name].seconds or 0.0 for name in ("sum", "t")]
    assert skeleton.seconds == pytest.approx(sum(kept) + 2 * alone)
    shown = skeleton_text(skeleton, full=True)
    for words in ("first.done, overlaps nothing", "second.done, overlaps 1 collective, "):
        assert words in shown


PREFETCHED = """HloModule jit_f, is_scheduled=true, num_partitions=4

wrapped {
  p = f32[1024,1024] parameter(0)
  ROOT g = f32[4096,1024] all-gather(p), replica_groups={{0,1,2,3}}, dimensions={0}
}

ENTRY e {
  x = f32[1024,1024] parameter(0)
  start = ((), (), s32[]) async-start(), calls=wrapped
  fed = f32[1024,1024] tanh(x)
  update = ((f32[1024,1024]), f32[4096,1024], s32[]) async-update(start, fed)
  t = f32[1024,1024] negate(x)
  done = f32[4096,1024] async-done(update)
  ROOT r = (f32[4096,1024], f32[1024,1024]) tuple(done, t)
}
"""


def test_a_start_without_data_sends_nothing_before_an_update_takes_it(tmp_path: Path) -> None:
    skeleton = module_skeleton(parsed(tmp_path, PREFETCHED))
    items = {item.name: item for item in skeleton.items}
    assert items["start"].beside == {"kernel": 1}
    alone, t = items["start"].seconds or 0.0, items["t"].seconds or 0.0
    assert items["start"].beside_seconds == pytest.approx(t)
    assert items["done"].seconds == pytest.approx(alone - t)
