"""Maximums of padded arrays that cover a dimension."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.pad_joins import PadJoin, find_pad_joins, part_sizes
from xlareport.hlo.model import HloModule

_HEAD = """HloModule m

ENTRY main {
  a = f32[4,3] parameter(0)
  b = f32[4,5] parameter(1)
  low = f32[] constant(-inf)
"""
_PADS = """  left = f32[4,8] pad(a, low), padding=0_0x0_5
  right = f32[4,8] pad(b, low), padding=0_0x3_0
  wide = f32[4,8] convert(right)
  most = f32[4,8] maximum(wide, left)
  ROOT out = f32[4,8] negate(most)
}
"""
_CONCATENATE = """  both = f32[4,8] concatenate(a, b), dimensions={1}
  ROOT out = f32[4,8] negate(both)
}
"""


def _joins(pads: str) -> list[PadJoin]:
    search = start(_module(_CONCATENATE), _module(pads), same_program=True)
    return list(find_pad_joins(search.after))


def _module(lines: str) -> HloModule:
    return parse_module(_HEAD + lines)


def test_pads_that_cover_a_dimension_are_a_join_in_the_order_of_their_places() -> None:
    (join,) = _joins(_PADS)
    assert join.sizes == (1, (3, 5))
    assert [node.instruction.name for node, _ in join.sources] == ["a", "b"]
    assert {part.instruction.name for part in join.parts} >= {"most", "wide", "left", "right"}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("padding=0_0x3_0", "padding=0_0x2_1"),
        ("padding=0_0x3_0", "padding=0_0_1x3_0"),
        ("padding=0_0x3_0", "padding=3_0"),
        ("padding=0_0x3_0", "padding=1_1x3_0"),
        ("maximum(wide, left)", "maximum(wide, wide)"),
        ("maximum(wide, left)", "maximum(wide, other)"),
        ("maximum(wide, left)", "add(wide, left)"),
    ],
)
def test_others_are_none(text: str, other: str) -> None:
    given = "  other = f32[4,8] parameter(2)\n" if "other" in other else ""
    assert not _joins(given + _PADS.replace(text, other))


def test_the_sizes_of_what_a_concatenate_joins() -> None:
    search = start(_module(_CONCATENATE), _module(_PADS), same_program=True)
    sizes = {node.instruction.name: part_sizes(node) for node in search.before.open()}
    assert sizes["both"] == (1, (3, 5))
