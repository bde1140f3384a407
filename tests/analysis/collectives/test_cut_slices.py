"""Collective-permutes of slices along a sharded dimension, such as queries, keys and values."""

from collections.abc import Callable

from xlareport.analysis.collectives.collective_origin import explain_cause
from xlareport.analysis.collectives.cut_slices import find_cut_slices
from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import HloModule, Instruction

WHOLE = """
ENTRY %main (x: f32[8,24]) -> (f32[8,8], f32[8,8], f32[8,8]) {
  %x = f32[8,24] parameter(0), sharding={devices=[1,4]<=[4]}
  %qkv.1 = f32[8,24] negate(%x), sharding={devices=[1,4]<=[4]}, metadata={op_name="f/qkv"}
  %split.1 = f32[8,8] slice(%qkv.1), slice={[0:8], [0:8]}, sharding={devices=[1,4]<=[4]}, \
metadata={op_name="f/split"}
  %split.2 = f32[8,8] slice(%qkv.1), slice={[0:8], [8:16]}, sharding={devices=[1,4]<=[4]}, \
metadata={op_name="f/split"}
  %dot.1 = f32[8,8] dot(%split.1, %split.2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, \
metadata={op_name="f/dot_general"}
  ROOT %r = (f32[8,8], f32[8,8], f32[8,8]) tuple(%dot.1, %split.1, %split.2)
}
"""
PARTS = """
ENTRY %main (x: f32[8,6]) -> f32[8,2] {
  %x = f32[8,6] parameter(0)
  %qkv.7 = f32[8,6] negate(%x), metadata={op_name="f/qkv"}
  %slice.1 = f32[8,2] slice(%qkv.7), slice={[0:8], [2:4]}, metadata={op_name="f/split"}
  %collective-permute.1 = f32[8,2] collective-permute(%slice.1), channel_id=1, \
source_target_pairs={{0,1},{1,2}}, metadata={op_name="f/split"}
  ROOT %dot.7 = f32[8,2] add(%collective-permute.1, %slice.1), metadata={op_name="f/dot_general"}
}
"""


def test_a_permute_moves_parts_for_the_slices_of_its_name(
    read_text: Callable[[str], HloModule],
) -> None:
    before, after = read_text(WHOLE), read_text(PARTS)
    step = PartitioningStep(Partitioning(before, after), match(before, after))
    cause = explain_cause(step, find_collectives(after)[0], 4)
    assert cause.detail == (
        "Moves parts of `qkv.1` for its slices `split.1` and `split.2` along dimension 1, sharded "
        "in 4: the shards of a slice lie on other devices."
    )
    assert cause.sharding is not None
    assert (cause.sharding.value, cause.sharding.from_) == ("qkv.1", "{devices=[1,4]<=[4]}")
    assert cause.sharding.to == "{devices=[1,4]<=[4]}"


def test_slices_along_whole_dimensions_move_nothing(read_text: Callable[[str], HloModule]) -> None:
    before, after = read_text(WHOLE.replace("[1,4]<=", "[4,1]<=")), read_text(PARTS)
    step = PartitioningStep(Partitioning(before, after), match(before, after))
    assert find_cut_slices(step, find_body(after)) is None
    single = read_text(
        WHOLE.replace(
            '%split.2 = f32[8,8] slice(%qkv.1), slice={[0:8], [8:16]}, \
sharding={devices=[1,4]<=[4]}, metadata={op_name="f/split"}',
            "%split.2 = f32[8,8] iota()",
        )
    )
    step = PartitioningStep(Partitioning(single, after), match(single, after))
    assert find_cut_slices(step, find_body(after)) is None


def find_body(module: HloModule) -> Instruction:
    entry = module.entry
    assert entry is not None
    return entry.by_name["collective-permute.1"]
