"""Reshapes that merge a sharded dimension."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.collectives.merged_dimensions import find_merging_reshape, merges
from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning

TEXT = """HloModule m, num_partitions=4

ENTRY main {
  a = f32[8,16] parameter(0), sharding={devices=[TILES]<=[4]}
  flat = f32[128] reshape(a)
  ROOT d = f32[] dot(flat, flat), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"""


@pytest.mark.parametrize(("tiles", "reshape"), [("1,4", "flat"), ("4,1", None)])
def test_a_reshape_that_merges_a_sharded_dimension_is_found(
    tiles: str, reshape: str | None
) -> None:
    """Rows stay together in the flat value, columns do not."""
    module = parse_module(TEXT.replace("TILES", tiles))
    assert module.entry is not None
    step = PartitioningStep(Partitioning(module, module), match(module, module))
    assert module.entry.root is not None
    found = find_merging_reshape(step, module.entry, "a", module.entry.root)
    assert (found.name if found else None) == reshape


def test_a_reshape_that_keeps_the_sharded_dimension_merges_nothing() -> None:
    text = TEXT.replace("f32[128] reshape", "f32[2,4,16] reshape").replace("TILES", "1,4")
    module = parse_module(text)
    assert module.entry is not None
    lines = module.entry.by_name
    assert not merges(lines["a"], lines["flat"], (1, 4))
