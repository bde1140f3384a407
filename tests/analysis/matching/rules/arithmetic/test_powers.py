"""Integer arithmetic with powers of two, done by bits."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_TEXT = """
ENTRY %main (n: u32[], a: f32[8]) -> f32[1] {
  %n = u32[] parameter(0)
  %a = f32[8]{0} parameter(1)
  %constant.N = u32[] constant(NUMBER)
  %OPCODE.N = u32[] OPCODE(%n, %constant.N)
  ROOT %slice = f32[1]{0} dynamic-slice(%a, %OPCODE.N), dynamic_slice_sizes={1}
}
"""


def _text(opcode: str, number: int, name: str) -> str:
    text = _TEXT.replace("OPCODE", opcode).replace("NUMBER", str(number))
    return text.replace(".N", f".{name}").replace("%n", "%x")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("remainder", 8), ("and", 7)),
        (("divide", 8), ("shift-right-logical", 3)),
        (("multiply", 4), ("shift-left", 2)),
    ],
)
def test_arithmetic_with_a_power_of_two_goes_on_as_the_operation_on_bits(
    read: Read, old: tuple[str, int], new: tuple[str, int]
) -> None:
    before, after = read(_text(*old, "1")), read(_text(*new, "2"))
    place = match(before, after).partner_after(Place("main", f"{old[0]}.1"))
    assert place == Place("main", f"{new[0]}.2")
    pairing = match(before, after).pairing_before(Place("main", f"{old[0]}.1"))
    assert pairing is not None
    assert pairing.reason == "the same on the same value, by its bits"
    assert "replaced 1 " in step(before, after, "`algsimp`").headline


@pytest.mark.parametrize("number", [6, 15])
def test_other_numbers_are_no_such_operation(read: Read, number: int) -> None:
    before, after = read(_text("remainder", 8, "1")), read(_text("and", number, "2"))
    pairing = match(before, after).pairing_before(Place("main", "remainder.1"))
    assert pairing is None or "bits" not in str(pairing.reason)


def test_a_remainder_of_what_was_rewritten_itself_is_done_by_bits_too(read: Read) -> None:
    before = """
HloModule step
ENTRY %main (x: u32[], y: u32[]) -> u32[] {
  %x = u32[] parameter(0)
  %y = u32[] parameter(1)
  %four = u32[] constant(4)
  %eight = u32[] constant(8)
  %rem.1 = u32[] remainder(%x, %four)
  %less = u32[] subtract(%rem.1, %y)
  ROOT %rem.2 = u32[] remainder(%less, %eight)
}
"""
    after = before.replace("constant(4)", "constant(3)").replace("constant(8)", "constant(7)")
    after = after.replace("%rem.", "%and.").replace("remainder(", "and(")
    after = after.replace("%four", "%three").replace("%eight", "%seven")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "rem.2")) == Place("main", "and.2")
    pairing = matching.pairing_before(Place("main", "rem.2"))
    assert pairing is not None
    assert "by its bits" in str(pairing.reason)
