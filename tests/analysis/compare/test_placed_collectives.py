"""Which collectives only one of two modules has."""

from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.compare.placed_collectives import (
    PlacedCollective,
    compare_collectives,
    list_collectives,
)
from xlareport.analysis.source.scopes import Phase

MODULE = """HloModule m, is_scheduled=true

ENTRY %main (a: bf16[8]) -> bf16[16] {
  %a = bf16[8]{0} parameter(0)
  %s = (bf16[8]{0}, bf16[16]{0}) all-gather-start(%a), replica_groups={{0,1}}, dimensions={0}, \
metadata={op_name="jit(f)/jvp(layer_3)/mlp/add"}
  ROOT %d = bf16[16]{0} all-gather-done(%s)
}
"""
GATHER = PlacedCollective("all-gather", Phase.FORWARD, "mlp/add", "bf16[16]", "g", 1.0)
REDUCE = replace(GATHER, kind="all-reduce", instruction="r", seconds=2.0)


def test_a_collective_has_its_scope_the_shape_of_its_result_and_its_time() -> None:
    module = parse_module(MODULE)
    (collective,) = list_collectives(module, {("main", "s"): 2.0, ("main", "d"): 0.5})
    wanted = PlacedCollective("all-gather", Phase.FORWARD, "layer_*/mlp/add", "bf16[16]", "s", 2.5)
    assert collective == wanted


def test_new_and_gone_collectives_are_named_the_slowest_first() -> None:
    other = replace(GATHER, path="mlp/dot", instruction="g2")
    changes = compare_collectives([GATHER, REDUCE], [replace(GATHER, instruction="g9"), other])
    assert [(change.in_head, change.collective) for change in changes] == [
        (False, REDUCE),
        (True, other),
    ]


def test_a_collective_of_another_shape_is_not_a_new_collective() -> None:
    reshaped, new = (replace(GATHER, shape=f"bf16[{size}]") for size in (8, 32))
    (change,) = compare_collectives([reshaped], [GATHER, new])
    assert change.in_head
    assert compare_collectives([GATHER], [replace(GATHER, path="mlp/dot")]) == ()
