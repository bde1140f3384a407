"""The shardings around a collective, where several of them change those of one value."""

from tests.modules import parse_module

from xlareport.analysis.collectives.partitioning import Moved, PartitioningStep, chain_back
from xlareport.analysis.collectives.sharding_pair import ShardingPair, pair_of_value
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning

BEFORE = """HloModule m, num_partitions=8

ENTRY main {
  a = f32[16,64] parameter(0), sharding={devices=[8,1]<=[8]}
  b = f32[16,32] parameter(1), sharding={devices=[8,1]<=[8]}
  ROOT joined = f32[16,96] concatenate(a, b), dimensions={1}, sharding={devices=[4,2]<=[8]}
}
"""
AFTER = """HloModule m, num_partitions=8

ENTRY main_spmd {
  a = f32[2,64] parameter(0)
  b = f32[2,32] parameter(1)
  joined = f32[2,96] concatenate(a, b), dimensions={1}
  parts = f32[2,2,48] reshape(joined)
  moved = f32[2,2,48] all-to-all(parts), replica_groups=[4,2]<=[8], dimensions={1}
  turned = f32[2,2,48] transpose(moved), dimensions={1,0,2}
  own = f32[4,48] reshape(turned)
  ROOT whole = f32[4,96] all-gather(own), replica_groups=[4,2]<=[8], dimensions={1}
}
"""


def pair_of(
    collective: str, before_text: str = BEFORE, after_text: str = AFTER, wanting: str = ""
) -> ShardingPair:
    before, after = parse_module(before_text), parse_module(after_text)
    step = PartitioningStep(Partitioning(before, after), match(before, after))
    assert after.entry is not None
    body = after.entry.by_name[collective]
    moved = Moved(after.entry, body, tuple(chain_back(after.entry, body)))
    wanted = step.counterpart(after.entry, after.entry.by_name[wanting]) if wanting else None
    pair = pair_of_value(step, moved, wanted, 8)
    assert pair is not None
    return pair


def test_a_result_computed_in_another_sharding_is_moved_to_its_own() -> None:
    pair = pair_of("moved")
    assert (pair.value, pair.from_) == ("joined", "{devices=[8,1]<=[8]}")
    assert (pair.to, pair.grade) == ("{devices=[4,2]<=[8]}", "matched")


def test_the_next_collective_begins_with_the_sharding_that_the_value_has_then() -> None:
    pair = pair_of("whole")
    assert (pair.value, pair.from_) == ("joined", "{devices=[4,2]<=[8]}")
    assert pair.to == "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"


SPLIT_BEFORE = """HloModule m, num_partitions=4

ENTRY main {
  a = f32[8,384] parameter(0), sharding={devices=[2,2]<=[4]}
  n = f32[8,384] negate(a), sharding={devices=[2,2]<=[4]}
  ROOT s = f32[8,128] slice(n), slice={[0:8], [128:256]}, sharding={devices=[2,2]<=[4]}
}
"""
SPLIT_AFTER = """HloModule m, num_partitions=4

ENTRY main_spmd {
  a = f32[4,192] parameter(0)
  n = f32[4,192] negate(a)
  parts = f32[2,2,192] reshape(n)
  moved = f32[2,2,192] all-to-all(parts), replica_groups=[2,2]<=[4], dimensions={0}
  turned = f32[2,2,192] transpose(moved), dimensions={1,0,2}
  own = f32[2,384] reshape(turned)
  ROOT s = f32[2,128] slice(own), slice={[0:2], [128:256]}
}
"""


def test_after_an_all_to_all_the_shapes_tell_the_sharding() -> None:
    pair = pair_of("moved", SPLIT_BEFORE, SPLIT_AFTER)
    assert (pair.value, pair.from_) == ("n", "{devices=[2,2]<=[4]}")
    assert pair.to == "{devices=[4,1]<=[4]}"
    other = pair_of("moved", SPLIT_BEFORE, SPLIT_AFTER.replace("reshape(turned", "negate(turned"))
    assert (other.to, other.to_reason) == (None, "no snapshot states it")


SORTED_BEFORE = """HloModule m, num_partitions=8

less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT l = pred[] compare(x, y), direction=LT
}

ENTRY main {
  a = f32[8,64] parameter(0), sharding={devices=[2,4]<=[8]}
  n = f32[8,64] negate(a), sharding={devices=[2,4]<=[8]}
  count = s32[8,64] iota(), iota_dimension=1, sharding={devices=[2,4]<=[8]}
  top = (f32[8,64], s32[8,64]) sort(n, count), dimensions={1}, to_apply=less, sharding={{devices=[2,4]<=[8]}, {devices=[2,4]<=[8]}}, metadata={op_name="f/top_k"}
  first = f32[8,64] get-tuple-element(top), index=0, sharding={devices=[2,4]<=[8]}
  ROOT e = f32[8,64] exponential(first), sharding={devices=[2,4]<=[8]}
}
"""  # noqa: E501 - as XLA prints it
SORTED_AFTER = """HloModule m, num_partitions=8

less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT l = pred[] compare(x, y), direction=LT
}

ENTRY main_spmd {
  a = f32[4,16] parameter(0)
  n = f32[4,16] negate(a), sharding={devices=[2,4]<=[8]}
  parts = f32[4,1,16] reshape(n)
  values = f32[4,1,16] all-to-all(parts), replica_groups=[2,4]<=[8], dimensions={0}, metadata={op_name="f/top_k"}
  turned = f32[1,4,16] transpose(values), dimensions={1,0,2}
  rows = f32[1,64] reshape(turned), sharding={devices=[8,1]<=[8]}
  local = s32[4,16] iota(), iota_dimension=1
  id = u32[] partition-id()
  offsets = s32[8] constant({0, 16, 32, 48, 0, 16, 32, 48})
  offset = s32[1] dynamic-slice(offsets, id), dynamic_slice_sizes={1}
  own_offset = s32[] reshape(offset)
  spread = s32[4,16] broadcast(own_offset), dimensions={}
  index = s32[4,16] add(local, spread), sharding={devices=[2,4]<=[8]}
  index_parts = s32[4,1,16] reshape(index)
  numbers = s32[4,1,16] all-to-all(index_parts), replica_groups=[2,4]<=[8], dimensions={0}, metadata={op_name="f/top_k"}
  index_turned = s32[1,4,16] transpose(numbers), dimensions={1,0,2}
  index_rows = s32[1,64] reshape(index_turned), sharding={devices=[8,1]<=[8]}
  top = (f32[1,64], s32[1,64]) sort(rows, index_rows), dimensions={1}, to_apply=less, sharding={{devices=[8,1]<=[8]}, {devices=[8,1]<=[8]}}, metadata={op_name="f/top_k"}
  first_rows = f32[1,64] get-tuple-element(top), index=0, sharding={devices=[8,1]<=[8]}
  back_parts = f32[1,4,16] reshape(first_rows)
  back = f32[1,4,16] all-to-all(back_parts), replica_groups=[2,4]<=[8], dimensions={1}, metadata={op_name="f/top_k"}
  back_turned = f32[4,1,16] transpose(back), dimensions={1,0,2}
  first = f32[4,16] reshape(back_turned), sharding={devices=[2,4]<=[8]}
  ROOT e = f32[4,16] exponential(first)
}
"""  # noqa: E501 - as XLA prints it


def test_the_operand_that_is_resharded_is_that_which_the_result_is_read_as() -> None:
    """Not another operand of the same shape: the positions of a `top_k` are an iota."""
    values = pair_of("values", SORTED_BEFORE, SORTED_AFTER, "top")
    assert (values.value, values.to) == ("n", "{devices=[8,1]<=[8]}")
    numbers = pair_of("numbers", SORTED_BEFORE, SORTED_AFTER, "top")
    assert (numbers.value, numbers.from_) == ("count", "{devices=[2,4]<=[8]}")
    assert numbers.to == "{devices=[8,1]<=[8]}"


def test_an_element_of_a_result_is_resharded_by_itself() -> None:
    pair = pair_of("back", SORTED_BEFORE, SORTED_AFTER)
    assert (pair.value, pair.from_) == ("first", "{devices=[8,1]<=[8]}")
    assert pair.to == "{devices=[2,4]<=[8]}"


GATHERED_BEFORE = """HloModule m, num_partitions=8

ENTRY main {
  table = f32[64,32] parameter(0), sharding={devices=[2,4]<=[4,2]T(1,0)}
  rows = s32[8,1] parameter(1), sharding={replicated}
  g = f32[8,32] gather(table, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}, sharding={devices=[1,4,2]<=[8] last_tile_dim_replicate}, metadata={op_name="f/gather"}
  c = f32[8,32] copy(g), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}, metadata={op_name="f/gather"}
  ROOT e = f32[8,32] exponential(c), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
}
"""  # noqa: E501 - as XLA prints it
GATHERED_AFTER = """HloModule m, num_partitions=8

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

ENTRY main_spmd {
  table = f32[32,8] parameter(0)
  rows = s32[8,1] parameter(1)
  g = f32[8,8] gather(table, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}, metadata={op_name="f/gather"}
  zero = f32[] constant(0)
  zeros = f32[8,8] broadcast(zero), dimensions={}
  other = pred[8,8] compare(g, zeros), direction=LT
  masked = f32[8,8] select(other, zeros, g), metadata={op_name="f/gather"}
  summed = f32[8,8] all-reduce(masked), replica_groups=[4,2]<=[8], to_apply=add, sharding={devices=[1,4,2]<=[8] last_tile_dim_replicate}, metadata={op_name="f/gather"}
  parts = f32[4,2,8] reshape(summed)
  moved = f32[4,2,8] all-to-all(parts), replica_groups={{0,2,4,6},{1,3,5,7}}, dimensions={0}, metadata={op_name="f/gather"}
  turned = f32[2,4,8] transpose(moved), dimensions={1,0,2}
  own = f32[2,32] reshape(turned), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  c = f32[2,32] copy(own), metadata={op_name="f/gather"}
  ROOT e = f32[2,32] exponential(c)
}
"""  # noqa: E501 - as XLA prints it
CUT = "{devices=[1,4,2]<=[8] last_tile_dim_replicate}"
WANTED = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"


def test_a_sum_over_devices_is_the_op_whose_partial_results_it_adds() -> None:
    """The all-to-all behind it moves that op's value, not one that only the partitioner knows."""
    pair = pair_of("moved", GATHERED_BEFORE, GATHERED_AFTER)
    assert (pair.value, pair.from_, pair.to) == ("g", CUT, WANTED)


def test_the_partitioned_snapshot_states_in_which_sharding_a_result_was_computed() -> None:
    """The program wants the gather itself in another sharding, without a copy in between."""
    direct = GATHERED_BEFORE.replace(CUT, WANTED)
    pair = pair_of("moved", direct, GATHERED_AFTER)
    assert (pair.value, pair.from_, pair.to) == ("g", CUT, WANTED)
    within = GATHERED_AFTER.replace(f"sharding={CUT}", "sharding={devices=[1,4]<=[4]}")
    assert pair_of("moved", direct, within).from_ == "{devices=[1,4]...}"


CUT_BEFORE = """HloModule m, num_partitions=8

ENTRY main {
  a = f32[16,4] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
  x = bf16[8,16] parameter(1), sharding={replicated}
  v = bf16[16,4] convert(a), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
  ROOT d = bf16[8,4] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}
}
"""  # noqa: E501 - as XLA prints it
CUT_AFTER = """HloModule m, num_partitions=8

ENTRY main_spmd {
  a = f32[8,4] parameter(0)
  x = bf16[8,16] parameter(1)
  v = bf16[8,4] convert(a), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
  c = s32[] constant(0)
  own = bf16[4,4] dynamic-slice(v, c, c), dynamic_slice_sizes={4,4}, sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  moved = bf16[4,4] collective-permute(own), source_target_pairs={{0,0},{1,4},{2,1},{3,5},{4,2},{5,6},{6,3},{7,7}}, sharding={devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}
  whole = bf16[16,4] all-gather(moved), replica_groups={{0,1,2,3},{4,5,6,7}}, dimensions={0}, use_global_device_ids=true, sharding={replicated}
  ROOT d = bf16[8,4] dot(x, whole), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}
}
"""  # noqa: E501 - as XLA prints it


def test_a_part_that_is_cut_further_before_it_moves_has_the_shardings_that_are_written() -> None:
    moved = pair_of("moved", CUT_BEFORE, CUT_AFTER, "d")
    order = "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"
    assert (moved.value, moved.to) == ("v", order)
    assert moved.from_ == "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"
    whole = pair_of("whole", CUT_BEFORE, CUT_AFTER, "d")
    assert (whole.from_, whole.to) == (order, "{replicated}")
    uncut = CUT_AFTER.replace(
        "sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}", "channel_id=1"
    )
    assert pair_of("moved", CUT_BEFORE, uncut, "d").to == order
