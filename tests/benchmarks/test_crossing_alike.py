"""The check of loop elements by the values that loops start with."""

import sys
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from crossing_alike import element_failures

_TEXT = """
HloModule m

%body (p: (s32[4], s32[4], s32[4])) -> (s32[4], s32[4], s32[4]) {
  %p = (s32[4], s32[4], s32[4]) parameter(0)
  %x = s32[4] get-tuple-element(%p), index=0
  %y = s32[4] get-tuple-element(%p), index=1
  %z = s32[4] get-tuple-element(%p), index=2
  %less = s32[4] subtract(%x, %y)
  ROOT %t = (s32[4], s32[4], s32[4]) tuple(%less, %y, %z)
}

%cond (q: (s32[4], s32[4], s32[4])) -> pred[] {
  %q = (s32[4], s32[4], s32[4]) parameter(0)
  ROOT %go = pred[] constant(true)
}

ENTRY %main (a: s32[4], b: s32[4]) -> (s32[4], s32[4], s32[4]) {
  %a = s32[4] parameter(0)
  %b = s32[4] parameter(1)
  %first = s32[4] iota(), iota_dimension=0
  %second = s32[4] iota(), iota_dimension=0
  %copy-start = (s32[4], s32[4], u32[]) copy-start(%b)
  %copy-done = s32[4] copy-done(%copy-start)
  %start = (s32[4], s32[4], s32[4]) tuple(%a, %b, %a)
  ROOT %loop = (s32[4], s32[4], s32[4]) while(%start), condition=%cond, body=%body
}
"""


@pytest.mark.parametrize(
    ("before", "after", "is_another"),
    [
        ("%first, %b, %a", "%first, %a, %b", True),
        ("%first, %b, %a", "%first, %b, %a", False),
        ("%first, %b, %a", "%first, %copy-done, %b", False),
        ("%first, %a, %second", "%second, %a, %first", False),
    ],
)
def test_elements_are_other_ones_if_their_start_value_is_at_another_index(
    before: str, after: str, *, is_another: bool
) -> None:
    texts = [_TEXT.replace("tuple(%a, %b, %a)", f"tuple({starts})") for starts in (before, after)]
    failures = list(element_failures(match(*map(parse_module, texts))))
    assert bool(failures) is is_another, failures
