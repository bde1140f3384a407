"""Stacked buffers that a further axis of the mesh could split."""

from xlareport.analysis.cost.phases import FORWARD
from xlareport.analysis.cost.stacked import StackedBuffer
from xlareport.analysis.cost_report.unsplit_stacks import UnsplitStack, find_unsplit_stacks
from xlareport.analysis.shardings.sharding_report import ShardingReport
from xlareport.analysis.shardings.split_stores import SplitStore

BUFFER = StackedBuffer(
    *("e", "while.1", 2, "u", "bf16[32,8,64]{2,1,0}", 8 << 20), 1, 32, "jvp()/store", FORWARD
)
STORE = SplitStore("jvp()/store", "bf16[32,8,64]", (("fsdp", 2), ("tensor", 4)))


def report(*stores: SplitStore) -> ShardingReport:
    return ShardingReport(8, None, "", (), (), (), None, None, split_stores=stores)


def test_a_buffer_is_that_of_a_store_by_name_type_and_dimensions() -> None:
    (stack,) = find_unsplit_stacks([BUFFER], report(STORE))
    assert stack == UnsplitStack(BUFFER, "tensor", 4)
    assert stack.saved == 6 << 20
    assert not find_unsplit_stacks([BUFFER], None)
    other = SplitStore(STORE.op_name, "bf16[32,16,64]", STORE.axes)
    assert not find_unsplit_stacks([BUFFER], report(other))


def test_stores_that_fit_have_to_agree() -> None:
    whole = SplitStore(STORE.op_name, STORE.part, ())
    assert not find_unsplit_stacks([BUFFER], report(STORE, whole))
    assert find_unsplit_stacks([BUFFER], report(STORE, STORE))
