"""What a combined collective combines."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.compare.collective_members import list_members

MODULE = """HloModule m, is_scheduled=true

%joining (a: f32[8], b: f32[4]) -> f32[12] {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  ROOT %j = f32[12]{0} concatenate(%a, %b), dimensions={0}
}

ENTRY %main (x: f32[8], y: f32[4]) -> f32[12] {
  %x = f32[8]{0} parameter(0)
  %y = f32[4]{0} parameter(1)
  %v = f32[8]{0} negate(%x), metadata={op_name="jit(f)/jvp(layer_1)/dot_general"}
  %w = f32[4]{0} negate(%y)
  %k = f32[12]{0} fusion(%v, %w), kind=kLoop, calls=%joining
  %c = f32[12]{0} bitcast(%k)
  ROOT %r = REDUCE
}
"""
OF_LAYER = "layer_*/dot_general"


@pytest.mark.parametrize(
    ("reduce", "members"),
    [
        ("f32[12]{0} all-reduce(%c)", [(OF_LAYER, 8, 32), (OF_LAYER, 4, 16)]),
        (
            'f32[12]{0} all-reduce(%c), metadata={op_name="jit(f)/mul;jit(f)/add"}',
            [("mul", 8, 32), ("add", 4, 16)],
        ),
        ("(f32[8]{0}, f32[4]{0}) all-reduce(%v, %w)", [(OF_LAYER, 8, 32), ("", 4, 16)]),
        ("f32[4]{0} all-reduce(%w)", [("g", 4, 16)]),
    ],
)
def test_the_operands_of_a_collective_are_its_members(
    reduce: str, members: list[tuple[str, int, int]]
) -> None:
    module = parse_module(MODULE.replace("REDUCE", reduce))
    listed = list_members(module, ("main", "r"), "g")
    assert [(item.path, item.elements, item.bytes) for item in listed] == members
