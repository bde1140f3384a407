"""Buffers into which loops write slice by slice, against the sizes of their shapes."""

from collections.abc import Callable

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.occupancy import measure_occupancy
from xlareport.analysis.cost.phases import FORWARD
from xlareport.analysis.cost.stacked import (
    StackCopy,
    StackedBuffer,
    find_kept_by_policy,
    find_stack_copies,
    find_stacked_at_peak,
    find_stacked_buffers,
)
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.analysis.cost.work import count_cost
from xlareport.hlo.model import HloModule
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.live_range import LiveRange, LiveRanges

BODY = "jit(f)/jvp()/while/body/closed_call"
MODULE = """HloModule m

ENTRY e {
  a = bf16[8,8] parameter(0)
  b = bf16[8,8] negate(a), metadata={op_name="bd,de->be/dot_general"}
  ROOT c = bf16[8,8] reduce-precision(b), exponent_bits=8, mantissa_bits=%d
}
"""
SCAN = """body {
  s = (s32[], f32[4], f32[7,4], f32[7,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  step = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, step)
  x = f32[4] get-tuple-element(s), index=1
  y = f32[4] tanh(x), metadata={op_name="jit(f)/mlp/tanh"}
  kept = f32[7,4] get-tuple-element(s), index=2
  read = f32[7,4] get-tuple-element(s), index=3
  layer = f32[1,4] dynamic-slice(read, i, zero), dynamic_slice_sizes={1,4}
  row = f32[1,4] bitcast(y), metadata={op_name="jit(f)/while/body/dynamic_update_slice"}
  saved = f32[7,4] dynamic-update-slice(kept, row, i, zero)
  ROOT t = (s32[], f32[4], f32[7,4], f32[7,4]) tuple(next, y, saved, read)
}

condition {
  s = (s32[], f32[4], f32[7,4], f32[7,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY e {
  zero = s32[] constant(0)
  x = f32[4] parameter(0)
  b = f32[7,4] parameter(1)
  t = (s32[], f32[4], f32[7,4], f32[7,4]) tuple(zero, x, b, b)
  ROOT w = (s32[], f32[4], f32[7,4], f32[7,4]) while(t), condition=condition, body=body
}"""


def _stacked(module: HloModule) -> tuple[StackedBuffer, ...]:
    return find_stacked_buffers(module, count_cost(module).trip_counts)


def test_what_is_written_slice_by_slice(module_of: Callable[[str], HloModule]) -> None:
    (buffer,) = _stacked(module_of(SCAN))
    assert (buffer.loop, buffer.index, buffer.instruction) == ("w", 2, "saved")
    assert buffer.stored == "jit(f)/mlp/tanh"
    assert (buffer.bytes, buffer.iteration_bytes, buffer.trip_count) == (112, 16, 7)


def test_another_buffer_written_over_the_state_is_none(
    module_of: Callable[[str], HloModule],
) -> None:
    assert not _stacked(module_of(SCAN.replace("slice(kept, row", "slice(read, row")))


@pytest.mark.parametrize("rows", ["7,4", "13,4", "15,4"])
def test_a_buffer_that_the_loop_does_not_fill_is_a_state(
    module_of: Callable[[str], HloModule], rows: str
) -> None:
    assert bool(_stacked(module_of(SCAN.replace("7,4", rows)))) is (rows != "15,4")


@pytest.mark.parametrize("dump", ["tpu-v5e-scan", "tagged-gpu-scan"])
def test_slices_of_a_scan_add_up_to_the_buffers(
    dumped: Callable[[str, str], HloModule], dump: str
) -> None:
    buffers = _stacked(dumped(dump, "after_optimizations.txt"))
    assert buffers
    for buffer in buffers:
        assert buffer.trip_count
        assert buffer.iteration_bytes
        assert buffer.bytes == buffer.iteration_bytes * buffer.trip_count


def test_what_a_recomputed_loop_saves_is_no_gradient(
    module_of: Callable[[str], HloModule],
) -> None:
    written = "jit(f)/transpose(jvp())/checkpoint/rematted_computation/while/body/update"
    store = "saved = f32[7,4] dynamic-update-slice(kept, row, i, zero)"
    named = SCAN.replace(store, f'{store}, metadata={{op_name="{written}"}}')
    (buffer,) = _stacked(module_of(named))
    assert buffer.phase == "recomputed"
    (buffer,) = _stacked(module_of(named.replace("/rematted_computation", "")))
    assert buffer.phase == "backward"


def test_a_tiled_buffer_is_as_large_as_its_tiles(module_of: Callable[[str], HloModule]) -> None:
    text = SCAN.replace("f32[7,4]", "f32[7,4]{1,0:T(8,128)}")
    (buffer,) = _stacked(module_of(text))
    assert (buffer.bytes, buffer.iteration_bytes) == (4096, 4096 // 7)


SHARED = b"""BufferAssignment:
allocation 0: size 64, preallocated-temp:
 value: <1 u{2} @0> (size=32,offset=0): f32[8]{0}
 value: <2 w{2} @0> (size=32,offset=0): f32[8]{0}
 value: <3 w{3} @0> (size=32,offset=32): f32[8]{0}
"""


def test_buffers_at_one_place_count_once_at_the_peak() -> None:
    ranges = (LiveRange("u", (2,), 0, 1), LiveRange("w", (2,), 1, 2), LiveRange("w", (3,), 1, 2))
    live = LiveRanges(schedule=("u", "w", "x"), ranges=ranges)
    occupancy = measure_occupancy(read_buffer_assignment(SHARED, "b.txt")[0], live)
    buffers = [
        StackedBuffer("e", loop, index, "s", "f32[8]{0:S(1)}", 32, 1, 1, "")
        for loop, index in (("u", 2), ("w", 2), ("w", 3), ("v", 2))
    ]
    at_peak = find_stacked_at_peak(buffers, occupancy)
    assert [(buffer.loop, buffer.index) for buffer in at_peak] == [("u", 2), ("w", 3)]
    assert not [*find_stacked_at_peak(buffers, None)]


@pytest.mark.parametrize(
    ("mantissa", "shape", "stored", "count"),
    [
        (7, "bf16[4,8,8]{2,1,0}", f"{BODY}/bd,de->be/dot_general", 1),
        (7, "f32[4,8,8]{2,1,0}", f"{BODY}/bd,de->be/dot_general", 0),
        (7, "bf16[4,8,8]{2,1,0}", f"{BODY}/mul", 0),
        (3, "bf16[4,8,8]{2,1,0}", f"{BODY}/bd,de->be/dot_general", 0),
    ],
)
def test_a_value_is_kept_whose_rounding_changes_nothing(
    mantissa: int, shape: str, stored: str, count: int
) -> None:
    buffer = StackedBuffer("e", "w", 0, "i", shape, 512, 128, 4, "", "forward", stored)
    kept = find_kept_by_policy(parse_module((MODULE % mantissa).encode()), [buffer])
    assert kept == ((buffer,) * count)
    assert find_kept_by_policy(None, [buffer]) == ()


TEXT = """turn {
  p = f32[2,4] parameter(0)
  ROOT t = f32[4,2] transpose(p), dimensions={1,0}
}

ENTRY e {
  state = (f32[2,4], f32[2,4]) parameter(0)
  loop = (f32[2,4], f32[2,4]) while(state)
  first = f32[2,4] get-tuple-element(loop), index=0
  second = f32[2,4] get-tuple-element(loop), index=1
  turned = f32[4,2] fusion(second), kind=kLoop, calls=turn
  other = f32[4,2] fusion(first), kind=kLoop, calls=turn
  gathered = f32[4,4] all-gather(second), dimensions={0}
  ROOT computed = f32[2,4] negate(second)
}"""
STACK = StackedBuffer("e", "loop", 1, "s", "f32[2,4]", 32, 16, 2, "", FORWARD)


def test_values_moved_out_of_a_stack(module_of: Callable[[str], HloModule]) -> None:
    names = ("turned", "other", "gathered", "computed")
    values = [((name, ()), 32) for name in names]
    copies = find_stack_copies(values, [STACK], ValueSources(module_of(TEXT)))
    assert copies == (StackCopy(("turned", ()), 32, STACK),)
