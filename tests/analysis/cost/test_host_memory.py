"""Transfers between the memories of device and host, against the sizes of their shapes."""

from tests.analysis.cost.conftest import ReadModule

from xlareport.analysis.cost.host_memory import HostTransfer, find_host_transfers
from xlareport.analysis.cost.work import count_cost

OFFLOAD = """store {
  kept = f32[7,4]{1,0:S(5)} parameter(0)
  row = f32[1,4]{1,0} parameter(1)
  i = s32[] parameter(2)
  zero = s32[] constant(0)
  ROOT saved = f32[7,4]{1,0:S(5)} dynamic-update-slice(kept, row, i, zero)
}

body {
  s = (s32[], f32[4]{0}, f32[7,4]{1,0:S(5)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  step = s32[] constant(1)
  next = s32[] add(i, step)
  x = f32[4]{0} get-tuple-element(s), index=1
  row = f32[1,4]{1,0} bitcast(x)
  kept = f32[7,4]{1,0:S(5)} get-tuple-element(s), index=2
  start = ((f32[7,4]{1,0:S(5)}, f32[1,4]{1,0}, s32[]), f32[7,4]{1,0:S(5)}, u32[]) async-start(kept, row, i), calls=store
  saved = f32[7,4]{1,0:S(5)} async-done(start)
  ROOT t = (s32[], f32[4]{0}, f32[7,4]{1,0:S(5)}) tuple(next, x, saved)
}

condition {
  s = (s32[], f32[4]{0}, f32[7,4]{1,0:S(5)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY e {
  zero = s32[] constant(0)
  x = f32[4]{0} parameter(0)
  b = f32[7,4]{1,0:S(5)} parameter(1)
  first = (f32[7,4]{1,0}, f32[7,4]{1,0:S(5)}, u32[]) copy-start(b)
  fetched = f32[7,4]{1,0} copy-done(first)
  moved = f32[4]{0} custom-call(x), custom_call_target="MoveToHost"
  t = (s32[], f32[4]{0}, f32[7,4]{1,0:S(5)}) tuple(zero, x, b)
  ROOT w = (s32[], f32[4]{0}, f32[7,4]{1,0:S(5)}) while(t), condition=condition, body=body
}"""  # noqa: E501 - an instruction stands on one line


def test_each_transfer_is_counted_once_with_its_direction(module_of: ReadModule) -> None:
    module = module_of(OFFLOAD)
    assert find_host_transfers(module, count_cost(module)) == (
        HostTransfer("e", "first", "copy-start", "from host", 112, 1),
        HostTransfer("store", "saved", "dynamic-update-slice", "to host", 16, 7),
        HostTransfer("e", "moved", "custom-call", "to host", 16, 1),
    )


def test_time_is_that_of_the_link_where_it_is_known() -> None:
    transfer = HostTransfer("e", "c", "copy", "to host", 100, 7)
    assert transfer.total_bytes == 700
    assert transfer.seconds(350.0) == 2.0
    assert transfer.seconds(None) is None
    assert HostTransfer("e", "c", "copy", "to host", 100, None).seconds(350.0) is None


def test_moves_inside_one_memory_are_none(module_of: ReadModule) -> None:
    module = module_of("""ENTRY e {
  b = f32[7,4]{1,0:S(5)} parameter(0)
  d = f32[7,4]{1,0} parameter(1)
  same = f32[7,4]{1,0:S(5)} copy(b)
  ROOT device = f32[7,4]{1,0:S(1)} copy(d)
}""")
    assert find_host_transfers(module, count_cost(module)) == ()
