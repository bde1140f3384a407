"""Why collectives of real programs are there, checked against what the programs say."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.collective_origin import explain_cause
from xlareport.analysis.collectives.collective_rows import CollectiveRow
from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import HloModule

ReadText = Callable[[str], HloModule]
Rows = Callable[[str, str], dict[str, CollectiveRow]]
DUMPS = pytest.mark.parametrize("dump", ["sharded-cpu", "sharded-gpu", "sharded-tpu"])


@DUMPS
def test_what_the_user_wrote_is_the_users(dump: str, rows_of: Rows) -> None:
    for row in rows_of(dump, "jit_experts").values():
        assert row.origin.cause is CauseKind.USER
        assert row.sharding is None
        assert row.sharding_reason


@DUMPS
def test_a_convolution_needs_the_edge_of_its_neighbors(dump: str, rows_of: Rows) -> None:
    rows = rows_of(dump, "jit_blurred").values()
    assert len(rows) == 2
    for row in rows:
        assert row.origin.cause is CauseKind.HALO
        assert row.origin.grade == "exact"
        assert row.sharding is not None
        assert row.sharding.value == "image.0"


@DUMPS
def test_weights_are_gathered_along_data(dump: str, rows_of: Rows) -> None:
    gathers = [
        row
        for row in rows_of(dump, "jit_fsdp_step").values()
        if row.collective.kind == "all-gather"
    ]
    assert gathers
    for row in gathers:
        assert row.origin.cause is CauseKind.RESHARDING
        assert row.origin.grade == "exact"
        pair = row.sharding
        assert pair is not None
        assert (pair.from_, pair.to) in {
            ("{devices=[2,4]<=[8]}", f"{{devices=[1,4,2]{PAIRS} last_tile_dim_replicate}}"),
            (
                "{devices=[4,2]<=[2,4]T(1,0)}",
                f"{{devices=[4,1,2]{PAIRS} last_tile_dim_replicate}}",
            ),
        }


PAIRS = "0,4,1,5,2,6,3,7"
"""Devices that differ along `data`: 2 x 4, `data` first."""


@DUMPS
def test_a_product_of_shards_is_summed_up(dump: str, rows_of: Rows) -> None:
    rows = rows_of(dump, "jit_fsdp_step").values()
    (row,) = (
        one for one in rows if one.collective.kind == "all-reduce" and one.figures.group_size == 4
    )
    assert row.origin.cause is CauseKind.PARTIAL_SUM
    assert row.origin.grade == "exact"
    assert "sharded in 4" in row.origin.detail
    assert [operand.sharding for operand in row.origin.operands] == [
        "{devices=[2,4]<=[8]}",
        "{devices=[4,2]<=[2,4]T(1,0)}",
    ]
    assert row.sharding is not None
    assert row.sharding.to == "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"


@DUMPS
def test_the_loss_is_a_partial_reduction(dump: str, rows_of: Rows) -> None:
    rows = rows_of(dump, "jit_fsdp_step").values()
    causes = [row.origin.cause for row in rows]
    causes += [member.origin.cause for row in rows for member in row.members]
    assert CauseKind.PARTIAL_REDUCTION in causes


BETWEEN = "{devices=[4,2]<=[2,2,2]T(0,2,1)}"
"""Behind an all-to-all, before the collective-permute that brings the parts to their devices."""


@DUMPS
def test_constraints_reshard(dump: str, rows_of: Rows) -> None:
    rows = list(rows_of(dump, "jit_turned").values())
    assert {row.origin.cause for row in rows} == {CauseKind.RESHARDING}
    pairs = {(row.sharding.from_, row.sharding.to) for row in rows if row.sharding}
    assert pairs == {
        ("{devices=[2,4]<=[8]}", BETWEEN),
        (BETWEEN, "{devices=[4,2]<=[2,4]T(1,0)}"),
        ("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "{replicated}"),
    }


def test_halos_of_two_convolutions_of_one_name_in_two_dimensions(rows_of: Rows) -> None:
    rows = rows_of("overlapped-cpu", "jit_smoothed")
    assert len(rows) == 6
    for number, row in enumerate(rows.values()):
        op = "conv_general_dilated.0" if number < 4 else "conv_general_dilated.1"
        assert (row.origin.cause, row.origin.grade) == (CauseKind.HALO, "exact")
        assert row.origin.detail.startswith(f"`{op}` (convolution) needs the edge")
        assert row.sharding is not None


def test_the_edge_is_of_an_operand_before_partitioning(rows_of: Rows) -> None:
    for row in rows_of("overlapped-cpu", "jit_smoothed").values():
        assert row.sharding is not None
        assert f"needs the edge of `{row.sharding.value}` that" in row.origin.detail


_TURNED = """
ENTRY %main (g: f32[16,16], v: f32[16,4]) -> f32[16,4] {
  %g = f32[16,16] parameter(0), sharding={devices=[4,2]<=[8]}
  %v = f32[16,4] parameter(1), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  ROOT %dot.9 = f32[16,4] dot(%g, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}, metadata={op_name="f/dot_general"}
}
"""
_TURNED_PARTS = """
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (g: f32[4,8], v: f32[8,4]) -> f32[4,4] {
  %g = f32[4,8] parameter(0)
  %v = f32[8,4] parameter(1)
  %dot.1 = f32[4,4] dot(%g, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="f/dot_general"}
  ROOT %all-reduce.1 = f32[4,4] all-reduce(%dot.1), channel_id=1, replica_groups=[4,2]<=[8], \
use_global_device_ids=true, to_apply=%sum, metadata={op_name="f/dot_general"}
}
"""


def test_as_many_parts_are_combined_as_a_group_has_devices(read_text: ReadText) -> None:
    before, after = read_text(_TURNED), read_text(_TURNED_PARTS)
    step = PartitioningStep(Partitioning(before, after), match(before, after))
    cause = explain_cause(step, find_collectives(after)[0], 8)
    assert cause.detail.endswith("`dot.9` (dot): its contracting dimension is sharded in 2.")


_INDEXED = """
ENTRY %main (t: f32[64], i: s32[32,1], j: s32[32,1]) -> (f32[32,8], f32[32]) {
  %t = f32[64] parameter(0), sharding={devices=[8]<=[8]}
  %i = s32[32,1] parameter(1), sharding={devices=[8,1]<=[8]}
  %j = s32[32,1] parameter(2), sharding={devices=[8,1]<=[8]}
  %index.1 = s32[32,1] negate(%i), sharding={devices=[8,1]<=[8]}, metadata={op_name="f/index"}
  %gather.1 = f32[32] gather(%t, %index.1), offset_dims={}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1}, metadata={op_name="f/gather"}
  %gather.2 = f32[32] gather(%t, %j), offset_dims={}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1}, metadata={op_name="f/gather"}
  %gt.1 = f32[32,8] broadcast(%gather.1), dimensions={0}, metadata={op_name="f/gt"}
  ROOT %r = (f32[32,8], f32[32]) tuple(%gt.1, %gather.2)
}
"""
_INDEXED_PARTS = """
ENTRY %main (t: f32[8], i: s32[4,1], j: s32[4,1]) -> (f32[32,8], f32[4]) {
  %t = f32[8] parameter(0)
  %i = s32[4,1] parameter(1)
  %j = s32[4,1] parameter(2)
  %index.5 = s32[4,1] negate(%i), metadata={op_name="f/index"}
  %all-gather.1 = s32[32,1] all-gather(%index.5), channel_id=1, replica_groups=[1,8]<=[8], \
dimensions={0}, use_global_device_ids=true, metadata={op_name="f/gather"}
  %moved.1 = f32[32] convert(%all-gather.1), metadata={op_name="f/gather"}
  %gt.5 = f32[32,8] broadcast(%moved.1), dimensions={0}, metadata={op_name="f/gt"}
  %gather.5 = f32[4] gather(%t, %j), offset_dims={}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1}, metadata={op_name="f/gather"}
  ROOT %r = (f32[32,8], f32[4]) tuple(%gt.5, %gather.5)
}
"""


def test_a_moved_value_is_for_the_op_of_its_name_that_reads_it(read_text: ReadText) -> None:
    before, after = read_text(_INDEXED), read_text(_INDEXED_PARTS)
    step = PartitioningStep(Partitioning(before, after), match(before, after))
    cause = explain_cause(step, find_collectives(after)[0], 8)
    assert cause.detail == (
        "Reshards `index.1` from `{devices=[8,1]<=[8]}` to `{replicated}` for `gather.1` (gather)."
    )
