"""The op that a sum over devices is made for, found inside of the fusion that it sums."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.cause import CauseKind, CollectiveCause
from xlareport.analysis.collectives.collective_origin import explain_cause
from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.partial_results import find_partial_op, part_of
from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

TEXT = """
%add (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}}

ENTRY %main (t: f32[64,8], i: s32[32,1], u: f32[32,8]) -> f32[64,8] {{
  %t = f32[64,8] parameter(0), sharding={table}
  %i = s32[32,1] parameter(1)
  %u = f32[32,8] parameter(2), sharding={updates}
  %gather.1 = f32[32,8] gather(%t, %i), offset_dims={{1}}, collapsed_slice_dims={{0}}, \
start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,8}}
  ROOT %scatter.1 = f32[64,8] scatter(%t, %i, %u), update_window_dims={{1}}, \
inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=%add
}}
"""
REPLICATED = "{replicated}"
ReadText = Callable[[str], HloModule]
BEFORE = """
ENTRY %main (x: f32[8,64], w: f32[64,16], r: f32[8,16]) -> f32[8,16] {
  %x = f32[8,64] parameter(0)
  %w = f32[64,16] parameter(1)
  %r = f32[8,16] parameter(2)
  %dot.9 = f32[8,16] dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="dot_general"}
  ROOT %add.9 = f32[8,16] add(%r, %dot.9), metadata={op_name="add"}
}
"""
AFTER = """
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%fused (p: f32[8,32], q: f32[32,16]) -> f32[8,16] {
  %p = f32[8,32] parameter(0)
  %q = f32[32,16] parameter(1)
  ROOT %convolution.1 = f32[8,16] convolution(%p, %q), dim_labels=bf_io->bf, \
metadata={op_name="jit(f)/dot_general"}
}

ENTRY %main (x: f32[8,32], w: f32[32,16], r: f32[8,16]) -> f32[8,16] {
  %x = f32[8,32] parameter(0)
  %w = f32[32,16] parameter(1)
  %r = f32[8,16] parameter(2)
  %fusion.1 = f32[8,16] fusion(%x, %w), kind=kOutput, calls=%fused, \
metadata={op_name="jit(f)/dot_general"}
  %all-reduce.1 = f32[8,16] all-reduce(%fusion.1), channel_id=1, replica_groups=[4,2]<=[8], \
use_global_device_ids=true, to_apply=%sum, \
metadata={op_name="jit(f)/dot_general"}
  ROOT %add.1 = f32[8,16] add(%r, %all-reduce.1), metadata={op_name="jit(f)/add"}
}
"""


def _cause(before: HloModule, after: HloModule) -> CollectiveCause:
    step = PartitioningStep(Partitioning(before, after), match(before, after))
    (collective,) = find_collectives(after)
    return explain_cause(step, collective, 8)


def test_a_matmul_in_a_fusion_is_what_its_sum_is_made_for(read_text: ReadText) -> None:
    cause = _cause(read_text(BEFORE), read_text(AFTER))
    assert (cause.kind, cause.grade) == (CauseKind.PARTIAL_SUM, Grade.MATCHED)
    assert cause.detail == (
        "Combines partial results of `dot.9` (dot): its contracting dimension is sharded in 2."
    )


def test_without_a_counterpart_it_is_named_as_partitioned(read_text: ReadText) -> None:
    lone = BEFORE.replace(
        "dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "add(%r, %r)"
    )
    cause = _cause(read_text(lone.replace("dot_general", "other")), read_text(AFTER))
    assert (cause.kind, cause.grade) == (CauseKind.PARTIAL_SUM, Grade.MATCHED)
    assert "`convolution.1` (convolution, after partitioning)" in cause.detail


def test_an_op_of_another_name_is_not_taken(read_text: ReadText) -> None:
    other = AFTER.replace('bf_io->bf, metadata={op_name="jit(f)/dot_general"}', "bf_io->bf")
    module = read_text(other)
    home = module.by_name["main"]
    assert find_partial_op(module, home, home.by_name["all-reduce.1"]) is None


TWO_GATHERS = """
ENTRY %main (t: f32[64,16], i: s32[32,1], j: s32[32,5,1]) -> (f32[32,16], f32[32,5,16]) {
  %t = f32[64,16] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
  %i = s32[32,1] parameter(1), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  %j = s32[32,5,1] parameter(2), sharding={devices=[4,1,1,2]<=[8] last_tile_dim_replicate}
  %gather.7 = f32[32,16] gather(%t, %i), offset_dims={1}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}, metadata={op_name="h/gather"}
  %gather.2 = f32[32,5,16] gather(%t, %j), offset_dims={2}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=2, slice_sizes={1,16}, metadata={op_name="h/gather"}
  ROOT %r = (f32[32,16], f32[32,5,16]) tuple(%gather.7, %gather.2)
}
"""
MASKED = """
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (t: f32[32,16], i: s32[8,1], j: s32[8,5,1]) -> (f32[8,16], f32[8,5,16]) {
  %t = f32[32,16] parameter(0)
  %i = s32[8,1] parameter(1)
  %j = s32[8,5,1] parameter(2)
  %z = f32[] constant(0)
  %zeros = f32[8,5,16] broadcast(%z), dimensions={}
  %low = s32[] constant(32)
  %lows = s32[8,5,1] broadcast(%low), dimensions={}
  %apart = s32[8,5,1] subtract(%j, %lows), metadata={op_name="h/gather"}
  %bits = pred[8,5,1] compare(%j, %lows), direction=LT, metadata={op_name="h/gather"}
  %flat = pred[8,5] reshape(%bits), metadata={op_name="h/gather"}
  %mask = pred[8,5,16] broadcast(%flat), dimensions={0,1}, metadata={op_name="h/gather"}
  %gather.16 = f32[8,16] gather(%t, %i), offset_dims={1}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}, metadata={op_name="h/gather"}
  %gather.17 = f32[8,5,16] gather(%t, %apart), offset_dims={2}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=2, slice_sizes={1,16}, metadata={op_name="h/gather"}
  %select.1 = f32[8,5,16] select(%mask, %zeros, %gather.17), metadata={op_name="h/gather"}
  %all-reduce.2 = f32[8,5,16] all-reduce(%select.1), channel_id=1, replica_groups=[4,2]<=[8], \
use_global_device_ids=true, to_apply=%sum, metadata={op_name="h/gather"}
  ROOT %r = (f32[8,16], f32[8,5,16]) tuple(%gather.16, %all-reduce.2)
}
"""


def test_of_two_gathers_of_one_name_the_masked_gather_is_meant(read_text: ReadText) -> None:
    cause = _cause(read_text(TWO_GATHERS), read_text(MASKED))
    assert (cause.kind, cause.grade) == (CauseKind.PARTIAL_RESULT, Grade.EXACT)
    assert "`gather.2` (gather)" in cause.detail


@pytest.mark.parametrize(
    ("table", "updates", "of_scatter", "of_gather"),
    [
        (
            REPLICATED,
            "{devices=[4,2]<=[8]}",
            "its updates are sharded in 4",
            "each device has a part of its operands",
        ),
        (
            "{devices=[8,1]<=[8]}",
            "{devices=[1,8]<=[8]}",
            "each device has a part of its operands",
            "its operand is sharded in 8 along the dimensions that it indexes",
        ),
        (
            "{devices=[1,8]<=[8]}",
            REPLICATED,
            "each device has a part of its operands",
            "each device has a part of its operands",
        ),
    ],
)
def test_the_sharded_operand_is_named(
    table: str,
    updates: str,
    of_scatter: str,
    of_gather: str,
    read_text: Callable[[str], HloModule],
) -> None:
    module = read_text(TEXT.format(table=table, updates=updates))
    step = PartitioningStep(Partitioning(module, module), match(module, module))
    entry = module.entry
    assert entry is not None
    assert part_of(step, entry, entry.by_name["scatter.1"]) == of_scatter
    assert part_of(step, entry, entry.by_name["gather.1"]) == of_gather
