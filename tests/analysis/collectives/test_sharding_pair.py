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


def pair_of(collective: str, before_text: str = BEFORE, after_text: str = AFTER) -> ShardingPair:
    before, after = parse_module(before_text), parse_module(after_text)
    step = PartitioningStep(Partitioning(before, after), match(before, after))
    assert after.entry is not None
    body = after.entry.by_name[collective]
    moved = Moved(after.entry, body, tuple(chain_back(after.entry, body)))
    pair = pair_of_value(step, moved, None, 8)
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
