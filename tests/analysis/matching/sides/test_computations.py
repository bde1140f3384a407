"""Which computations continue each other."""

from collections.abc import Callable

from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


_WHERE = """
HloModule step
%body_1.0 () -> s32[] {
  %id.1 = u32[] partition-id()
  ROOT %index.1 = s32[] convert(%id.1)
}
%body_0.0 () -> s32[] {
  %id.2 = u32[] partition-id()
  ROOT %index.2 = s32[] convert(%id.2)
}
ENTRY %main (a: s32[]) -> (s32[], s32[]) {
  %a = s32[] parameter(0)
  %one = s32[] call(), to_apply=%body_1.0
  %given.1 = s32[] custom-call(%one), custom_call_target="f"
  %two = s32[] call(), to_apply=%body_0.0
  %given.2 = s32[] custom-call(%two), custom_call_target="f"
  ROOT %all = (s32[], s32[]) tuple(%given.1, %given.2)
}
"""


def test_equal_computations_called_once_keep_their_order_under_other_names(read: Read) -> None:
    after = _WHERE.replace("body_1.0", "inlinable_0.5").replace("body_0.0", "inlinable_1.7")
    for old, new in (("id.1", "id.8"), ("index.1", "id.9"), ("id.2", "id.6"), ("index.2", "id.7")):
        after = after.replace(f"%{old}", f"%{new}")
    after = after.replace("custom-call(", "copy(").replace(', custom_call_target="f"', "")
    after = after.replace("%one", "%map.1").replace("%two", "%map.2").replace("given", "shard")
    pairs = start(read(_WHERE), read(after)).computations.pairs
    assert pairs["body_1.0"] == "inlinable_0.5"
    assert pairs["body_0.0"] == "inlinable_1.7"
