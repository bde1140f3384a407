"""The payload of a step."""

from typing import Any

from tests.analysis.steps.made_change import change as made_change
from tests.modules import parse_module

from xlareport.analysis.steps.groups import grouped
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.pages.pictures.requests import describe_pictures
from xlareport.pages.steps.payload import _groups, step_payload
from xlareport.storage.string_folding import Folded, unfold_strings

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


_SCOPED = """HloModule m

ENTRY %main (x: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %c = f32[8]{0} negate(%x), metadata={op_name="jit(f)/while/body/attention/neg"}
  %d = f32[8]{0} negate(%x), metadata={op_name="jit(f)/while/body/while/body/attention/neg"}
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%c, %d)
}
"""


def test_groups_of_one_title_have_the_whole_scope_in_it() -> None:
    after = _SCOPED.replace("negate(", "tanh(")
    change = step(parse_module(_SCOPED), parse_module(after))
    titles = [group["title"] for group in step_payload(change, None, "", {})["groups"]]
    assert len(titles) > 1
    assert len(set(titles)) == len(titles)


def test_a_reason_does_not_say_twice_what_it_has() -> None:
    moved = made_change(Kind.CLONED)
    moved.reason, moved.details = "a further copy, past %dot.1", ("past %dot.1", "f32[2] → f32[3]")
    [group] = grouped([moved])
    reason = _groups([group], "")[0]["examples"][0]["reason"]
    assert reason == "a further copy, past %dot.1; f32[2] → f32[3]"
