import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from tuple_elements import expand_tuple_elements

TEXT = """HloModule m

%body (p: (s32[], (f32[2], s32[]))) -> s32[] {
  %p = (s32[], /*index=1*/(f32[2]{0:T(128)}, s32[])) parameter(0)
  ROOT %add = s32[] add(%p#0, %p#0)
}

ENTRY %main (a: f32[2]) -> (f32[2], s32[]) {
  %a = f32[2]{0} parameter(0), metadata={op_name="x"}
  %t = (s32[], (f32[2]{0:T(128)}, s32[])) custom-call(%a), custom_call_target="c"
  ROOT %u = (f32[2]{0:T(128)}, s32[]) copy(%t#1)
}
"""


def test_each_compact_element_becomes_one_instruction_behind_its_tuple() -> None:
    lines = expand_tuple_elements(TEXT).split("\n")
    assert lines[4] == "  %p.element0 = s32[] get-tuple-element(%p), index=0"
    assert lines[5] == "  ROOT %add = s32[] add(%p.element0, %p.element0)"
    assert lines[11] == ("  %t.element1 = (f32[2]{0:T(128)}, s32[]) get-tuple-element(%t), index=1")
    assert len(lines) == len(TEXT.split("\n")) + 2


def test_a_text_without_compact_elements_is_returned_as_it_is() -> None:
    text = TEXT.replace("#0", "").replace("#1", "")
    assert expand_tuple_elements(text) is text
