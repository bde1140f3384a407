"""What is asked for to be drawn, and what is said of it."""

from typing import Any

from tests.modules import parse_module

from xlareport.analysis.steps.step import step
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.pages.pictures.requests import describe_pictures
from xlareport.pages.steps.payload import step_payload
from xlareport.storage.string_folding import Folded, unfold_strings

BEFORE = """HloModule m

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %c = f32[8]{0} negate(%x)
  %d = f32[8]{0} negate(%c)
  ROOT %r = f32[8]{0} add(%x, %d)
}
"""


def own_lines(value: dict[str, Any]) -> list[str]:
    """Return the lines that a step's difference holds itself."""
    return unfold_strings(Folded(*value["diff"]["own"]), 1_000_000)


def test_megabytes_of_a_constant_are_cut_in_the_page_and_said_so() -> None:
    huge = ", ".join(["1"] * 9000)
    text = BEFORE.replace("negate(%x)", "constant({" + huge + "})")
    change = step(parse_module(BEFORE), parse_module(text))
    assert change.matching is not None
    value = step_payload(change, text_diff(change.matching), "", describe_pictures(None, ""))
    lines = own_lines(value)
    assert max(map(len, lines)) < 4_100
    assert any("more characters" in part for part in lines)
