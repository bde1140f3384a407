"""Trails through real snapshots: where a collective begins, and what passes did to it."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.collective_rows import CollectiveRow

Rows = Callable[[str, str], dict[str, CollectiveRow]]


def test_combined_gathers_are_led_back_to_each(rows_of: Rows) -> None:
    row = rows_of("sharded-gpu", "jit_fsdp_step")["all-gather-start"]
    assert len(row.members) == 3
    assert {member.kind for member in row.members} == {"all-gather"}
    assert {member.data_bytes for member in row.members} == {256 * 256 * 4}
    assert [(event.event, event.by) for event in row.trail] == [
        ("merged", "gpu-all-gather-combiner"),
        ("asynchronous", "async-collective-creator"),
        ("synchronous", "gpu-convert-async-collectives-to-sync"),
    ]


def test_a_reduce_scatter_was_an_all_reduce(rows_of: Rows) -> None:
    row = rows_of("sharded-gpu", "jit_fsdp_step")["reduce-scatter-start"]
    assert [(event.event, event.by) for event in row.trail] == [
        ("rewritten", "reduce-scatter-creator"),
        ("rewritten", "reduce-scatter-creator"),
        ("merged", "gpu-reduce-scatter-combiner"),
        ("asynchronous", "async-collective-creator"),
    ]
    assert {member.kind for member in row.members} == {"all-reduce"}


def test_a_tpu_fuses_and_divides(rows_of: Rows) -> None:
    rows = rows_of("sharded-tpu", "jit_fsdp_step")
    fused = rows["async-collective-start"].trail
    assert [(event.event, event.by) for event in fused] == [
        ("asynchronous", "tpu_async_collective_creator"),
        ("fused", "async-collective-fusion"),
    ]
    (scatter,) = (row for row in rows.values() if row.collective.kind == "reduce-scatter")
    assert {event.by for event in scatter.trail} == {
        "tpu-all-reduce-scatter-fusion",
        "all-reduce-combiner",
    }


@pytest.mark.parametrize("dump", ["sharded-cpu", "sharded-gpu", "sharded-tpu"])
def test_every_trail_ends_in_the_program_or_at_the_partitioner(dump: str, rows_of: Rows) -> None:
    partitioner = "tpu-spmd-partitioning" if dump == "sharded-tpu" else "spmd-partitioning"
    for name in ("jit_fsdp_step", "jit_blurred", "jit_turned"):
        for row in rows_of(dump, name).values():
            assert row.origin.after == partitioner
    for row in rows_of(dump, "jit_experts").values():
        assert (row.origin.after, row.origin.stage) == (None, "before optimizations")


@pytest.mark.parametrize("dump", ["overlapped-gpu", "overlapped-tpu"])
def test_a_sum_is_moved_out_of_a_loop(dump: str, rows_of: Rows) -> None:
    (row,) = rows_of(dump, "jit_accumulated").values()
    (moved,) = (event for event in row.trail if event.event == "moved")
    assert moved.by == "while-loop-all-reduce-code-motion"
    assert moved.detail.startswith("From `region_0.2_spmd` to `main.5_spmd`")
    assert row.figures.executions == 1
    assert row.origin.stage == "before optimizations"


def test_an_offload_to_a_sparse_core_is_no_move(rows_of: Rows) -> None:
    (row,) = rows_of("overlapped-tpu", "jit_accumulated").values()
    (offloaded,) = (event for event in row.trail if event.event == "offloaded")
    assert offloaded.by == "sparse-core-collective-offload"
    assert row.collective.thread == "sparsecore"


def test_a_pass_is_not_named_where_others_left_no_snapshot(rows_of: Rows) -> None:
    """Only some passes were dumped: between these two snapshots any number of them ran."""
    (row,) = rows_of("overlapped-tpu", "jit_accumulated").values()
    (begun,) = (event for event in row.trail if event.event == "asynchronous")
    assert (begun.by, begun.by_reason) == (None, "the names of the snapshots do not show the pass")
