from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.pieces import piece_of, slices_of
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

JOINED = """
HloModule step
ENTRY %main (x: f32[8], y: f32[24]) -> (f32[8], f32[24], f32[24]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[24]{0} parameter(1)
  %sine = f32[8]{0} sine(%x)
  %cosine = f32[24]{0} cosine(%y)
  %both = f32[32]{0} concatenate(%sine, %cosine), dimensions={0}
  %copy = f32[32]{0} copy(%both)
  %first = f32[8]{0} slice(%copy), slice={[0:8]}
  %second = f32[24]{0} slice(%copy), slice={[8:32]}
  %between = f32[24]{0} slice(%both), slice={[4:28]}
  ROOT %out = (f32[8]{0}, f32[24]{0}, f32[24]{0}) tuple(%first, %second, %between)
}
"""


@pytest.fixture
def side(read: Read) -> Side:
    empty = "ENTRY %main (x: f32[8]) -> f32[8] {\n  ROOT %x = f32[8]{0} parameter(0)\n}\n"
    return start(read(f"HloModule step\n{empty}"), read(JOINED)).after


@pytest.mark.parametrize(
    ("part", "piece"), [("first", "sine"), ("second", "cosine"), ("between", None), ("copy", None)]
)
def test_a_slice_that_takes_one_operand_has_its_value(
    side: Side, part: str, piece: str | None
) -> None:
    node = side.homes["main"].nodes[part]
    found = piece_of(side, node)
    assert (None if found is None else found[0].instruction.name) == piece


def test_an_operand_goes_on_as_the_slices_that_take_it(side: Side) -> None:
    join = side.homes["main"].nodes["both"]
    assert [node.instruction.name for node in slices_of(side, join, 1)] == ["second"]
    assert slices_of(side, join, 2) == []
