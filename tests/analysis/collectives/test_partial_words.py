"""Which operand of a gather or a scatter makes its result partial, by shardings."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.partial_words import part_of
from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import HloModule

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
