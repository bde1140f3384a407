"""The snapshots around the SPMD partitioner."""

from tests.modules import parse_module

from xlareport.analysis.cost.partitions import has_local_shapes, is_partitioned
from xlareport.analysis.shardings.partitioning import find_partitioning, is_sharded
from xlareport.hlo.model import HloModule


def read(entry: str, header: str = ", num_partitions=2") -> HloModule:
    text = f"HloModule m{header}\n\nENTRY {entry} {{\n  ROOT a = f32[2] parameter(0)\n}}\n"
    return parse_module(text)


def test_the_step_that_makes_an_entry_for_parts() -> None:
    modules = [read("main"), read("main.1"), read("main.1_spmd"), read("main.1_spmd.clone")]
    partitioning = find_partitioning(modules)
    assert partitioning is not None
    assert (partitioning.before, partitioning.after) == (modules[1], modules[2])
    assert partitioning.is_fresh


def test_without_such_a_step_there_is_none() -> None:
    assert find_partitioning([read("main"), read("main")]) is None
    assert find_partitioning([read("main_spmd")]) is None
    assert find_partitioning([]) is None


def test_one_device_is_no_partition() -> None:
    assert not is_partitioned(read("main_spmd", ", num_partitions=1"))
    assert is_partitioned(read("main_spmd"))


def test_a_schedule_comes_after_partitioning() -> None:
    scheduled = read("main", ", is_scheduled=true, num_partitions=2")
    assert has_local_shapes(scheduled)
    assert not is_partitioned(scheduled)
    assert not has_local_shapes(read("main", ", is_scheduled=true"))
    partitioning = find_partitioning([read("main"), read("main.1"), scheduled])
    assert partitioning is not None
    assert not partitioning.is_propagated  # nothing tells that passes ran between


def test_a_scheduled_module_is_not_what_the_partitioner_left() -> None:
    scheduled = read("main_spmd", ", is_scheduled=true, num_partitions=2")
    partitioning = find_partitioning([read("main"), scheduled])
    assert partitioning is not None
    assert not partitioning.is_fresh


def test_parameters_keep_their_shardings() -> None:
    text = """HloModule m

ENTRY e {
  a = f32[2] parameter(0), sharding={replicated}
  ROOT b = f32[2] negate(a), sharding={replicated}
}
"""
    module = parse_module(text)
    assert [is_sharded(instruction) for instruction in module.instructions] == [False, True]


def test_propagation_is_over_where_nothing_waits_for_it() -> None:
    first, second, last = read("main"), read("main.1"), read("main_spmd")
    sdy = read("main", ', num_partitions=2, frontend_attributes={xla.sdy.meshes={m = "x"}}')
    over = find_partitioning([first, second, last])
    alone, waiting = find_partitioning([first, last]), find_partitioning([first, sdy, last])
    assert over is not None
    assert over.is_propagated
    assert alone is not None
    assert waiting is not None
    assert not alone.is_propagated
    assert not waiting.is_propagated
