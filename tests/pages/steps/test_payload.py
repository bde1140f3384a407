"""The payload of a step."""

from typing import Any

from tests.modules import parse_module

from xlareport.analysis.steps.step import step
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.pages.pictures.requests import describe_pictures
from xlareport.pages.steps.payload import step_payload
from xlareport.storage.folding import Folded, unfold_strings

BEFORE = """HloModule m

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %c = f32[8]{0} negate(%x)
  %d = f32[8]{0} negate(%c)
  ROOT %r = f32[8]{0} add(%x, %d)
}
"""


AFTER = """HloModule m

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %r = f32[8]{0} multiply(%x, %x)
}
"""


def own_lines(value: dict[str, Any]) -> list[str]:
    """Return the lines that a step's difference holds itself."""
    return unfold_strings(Folded(*value["diff"]["own"]), 1_000_000)


def test_the_payload_of_a_step_tells_counts_and_shows_the_change() -> None:
    change = step(parse_module(BEFORE), parse_module(AFTER), "`algsimp`")
    assert change.matching is not None
    value = step_payload(
        change, text_diff(change.matching), "sure", describe_pictures(None, "no picture")
    )
    assert value["headline"]
    assert value["certain"] == "sure"
    assert ["negate", 2, 0] in value["opcodes"]
    assert "-" in value["diff"]["signs"]
    assert any("%c = " in line for line in own_lines(value))
    lines = value["diff"]["signs"].replace(" ", "")
    assert value["diff"]["shown"] == value["diff"]["total"] == len(lines)
    assert value["pictures"]["note"] == "no picture"
    assert {group["grade"] for group in value["groups"]} <= {"exact", "matched", "guessed"}
