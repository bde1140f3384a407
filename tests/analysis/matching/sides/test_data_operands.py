"""Operands whose elements become those of a result."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.sides.data_operands import is_data
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_MODULE = """
HloModule m

%pick (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  ROOT %y = f32[] parameter(1)
}

ENTRY %main (a: f32[8], i: s32[], j: s32[4,1], p: pred[8], v: f32[], u: f32[4]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %i = s32[] parameter(1)
  %j = s32[4,1]{1,0} parameter(2)
  %p = pred[8]{0} parameter(3)
  %v = f32[] parameter(4)
  %u = f32[4]{0} parameter(5)
  ROOT %line = f32[8]{0} WRITTEN
}
"""


@pytest.mark.parametrize(
    ("written", "data"),
    [
        ("gather(%a, %j)", [0]),
        ("scatter(%a, %j, %u), to_apply=%pick", [0, 2]),
        ("scatter(%a, %a, %j, %u, %u), to_apply=%pick", [0, 1, 3, 4]),
        ("dynamic-slice(%a, %i), dynamic_slice_sizes={4}", [0]),
        ("dynamic-update-slice(%a, %u, %i)", [0, 1]),
        ("select(%p, %a, %a)", [1, 2]),
        ("select-and-scatter(%a, %u, %v), select=%pick, scatter=%pick", [1]),
        ("pad(%u, %v), padding=2_2", [0]),
        ("reduce(%a, %a, %v, %v), dimensions={}, to_apply=%pick", [0, 1]),
        ('custom-call(%a, %u), custom_call_target="f"', []),
        ('custom-call(%a), custom_call_target="f"', [0]),
        ("add(%a, %a)", [0, 1]),
    ],
)
def test_indices_predicates_and_initial_values_are_no_data(
    read: Read, written: str, data: list[int]
) -> None:
    entry = read(_MODULE.replace("WRITTEN", written)).entry
    assert entry is not None
    line = entry.by_name["line"]
    assert [place for place in range(len(line.operands)) if is_data(line, place)] == data
