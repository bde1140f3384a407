"""What libtpu counts of a heap: cases as they were in compilations whose temp is known."""

from collections.abc import Callable

import pytest

from xlareport.analysis.cost.heap_use import measure_heap_use
from xlareport.hlo.model import HloModule
from xlareport.readers.buffer_assignment import Allocation, BufferValue
from xlareport.readers.live_range import LiveRange, LiveRanges

TEXT = """updated {
  p = f32[64] parameter(0)
  u = f32[8] parameter(1)
  i = s32[] parameter(2)
  d = f32[64] dynamic-update-slice(p, u, i)
  b = f32[64] bitcast(d)
  ROOT t = (f32[8], f32[64]) tuple(u, b)
}

ENTRY e {
  x = f32[64] parameter(0)
  u = f32[8] parameter(1)
  i = s32[] parameter(2)
  counter = s32[] copy(i)
  next = s32[] add(counter, i)
  a = f32[64] negate(x)
  r = f32[64] all-reduce(a), to_apply=updated
  s = (f32[8], f32[64]) fusion(a, u, i), kind=kLoop, calls=updated
  ROOT w = s32[] while(next), body=updated, condition=updated
}"""


@pytest.fixture
def use(module_of: Callable[[str], HloModule]) -> Callable[..., int]:
    """Return what counts of values, each as name, index, offset, bytes, start and end."""
    module = module_of(TEXT)

    def measured(*rows: tuple[str, tuple[int, ...], int, int, int, int]) -> int:
        values = tuple(
            BufferValue(number, name, index, offset, size, "(s32[])" if name == "t" else "f32[64]")
            for number, (name, index, offset, size, *_) in enumerate(rows)
        )
        heap = Allocation(
            index=0,
            size=1024,
            color=0,
            parameter=None,
            is_constant=False,
            is_thread_local=False,
            maybe_live_out=False,
            is_preallocated_temp=True,
            values=values,
        )
        lives = [LiveRange(name, index, *span) for name, index, _, _, *span in rows]
        return measure_heap_use(heap, LiveRanges(ranges=lives), module)

    return measured


def test_of_what_a_loop_carries_the_initial_value_counts_alone(use: Callable[..., int]) -> None:
    carried = ("counter", (), 0, 512, 1, 3), ("i", (), 0, 512, 3, 5), ("next", (), 0, 512, 5, 9)
    assert use(*carried, ("w", (), 0, 512, 9, 9), ("a", (), 512, 256, 6, 8)) == 512
    assert use(*carried, ("w", (), 0, 512, 9, 9), ("a", (), 512, 256, 2, 8)) == 768


def test_after_a_gap_what_the_loop_computes_counts(use: Callable[..., int]) -> None:
    carried = ("counter", (), 0, 512, 1, 3), ("i", (), 0, 512, 3, 5), ("next", (), 0, 512, 6, 9)
    assert use(*carried, ("w", (), 0, 512, 9, 9), ("a", (), 512, 256, 6, 8)) == 768


def test_an_all_reduce_that_takes_the_memory_of_its_operand_counts(
    use: Callable[..., int],
) -> None:
    """Each counts, and never both at once."""
    assert use(("a", (), 0, 256, 1, 3), ("r", (), 0, 256, 3, 9)) == 256
    rest = ("u", (), 256, 256, 8, 9)
    assert use(("a", (), 0, 256, 1, 3), ("r", (), 0, 256, 3, 9), rest) == 512


def test_a_fusion_that_updates_in_place_does_not_count(use: Callable[..., int]) -> None:
    chain = ("a", (), 0, 256, 1, 3), ("s", (1,), 0, 256, 3, 9)
    assert use(*chain, ("u", (), 256, 256, 8, 9)) == 256
    assert use(chain[0], ("s", (0,), 0, 256, 3, 9), ("u", (), 256, 256, 8, 9)) == 512


def test_tables_count_throughout_and_nothing_for_no_bytes(use: Callable[..., int]) -> None:
    tables = ("t", (), 512, 32, 1, 2), ("t", (), 544, 32, 8, 9), ("t", (), 512, 32, 3, 4)
    assert use(*tables, ("a", (), 0, 256, 5, 6), ("r", (), 0, 0, 4, 7)) == 320
