"""Python stacks of nodes, joined with those of the calls around them."""

from tests.modules import parse_module

from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.stacks import Stack, stack_of

_HEADER = """HloModule m

FileNames
1 "model.py"
2 "train.py"

FunctionNames
1 "layer"
2 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=4 end_column=9}
2 {file_name_id=2 function_name_id=2 line=7 end_line=7 column=1 end_column=5}
3 {file_name_id=2 function_name_id=2 line=8 end_line=8 column=1 end_column=5}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=1}
4 {file_location_id=1 parent_frame_id=1}
5 {file_location_id=1 parent_frame_id=6}

"""
_LAYER, _FIRST, _SECOND = (
    ("model.py", "layer", 3, 4),
    ("train.py", "step", 7, 1),
    ("train.py", "step", 8, 1),
)
_CALLED = """
%layer.1 (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  ROOT %sin = f32[4] sine(%p), metadata={op_name="sin" stack_frame_id=4}
}

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4] parameter(0)
  %exp = f32[4] exponential(%a), metadata={op_name="exp" stack_frame_id=1}
  %log = f32[4] log(%exp), metadata={op_name="log" stack_frame_id=3}
  %c.1 = f32[4] call(%log), to_apply=%layer.1, metadata={op_name="c" stack_frame_id=1}
  ROOT %c.2 = f32[4] OTHER, metadata={op_name="c" stack_frame_id=3}
}
"""
_INLINED = """
ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4] parameter(0)
  %cos = f32[4] cosine(%a), metadata={op_name="cos"}
  %tan = f32[4] tan(%cos), metadata={op_name="tan" stack_frame_id=5}
  ROOT %sin = f32[4] sine(%tan), metadata={op_name="sin" stack_frame_id=2}
}
"""


def _stacks(text: str, name: str, later: str = "") -> set[Stack]:
    """Return the stacks of an instruction, of all calls that a search distinguishes."""
    later = later or text.replace("[4]", "[8]")
    before, after = (parse_module(_HEADER + module) for module in (text, later))
    nodes = start(before, after).before.values.order
    return {stack_of(node) for node in nodes if node.instruction.name == name}


def test_a_stack_begins_with_the_innermost_frame() -> None:
    assert _stacks(_INLINED, "sin") == {(_LAYER, _FIRST)}
    assert _stacks(_INLINED, "cos") == {()}


def test_the_frames_of_a_stack_that_call_themselves_end_it() -> None:
    assert _stacks(_INLINED, "tan") == {(_LAYER,)}


def test_a_stack_in_a_computation_is_joined_with_that_of_its_only_call() -> None:
    assert _stacks(_CALLED.replace("OTHER", "sine(%c.1)"), "sin") == {(_LAYER, _FIRST)}


def test_a_stack_in_a_computation_of_several_calls_is_joined_where_they_are_inlined() -> None:
    called = _CALLED.replace("OTHER", "call(%c.1), to_apply=%layer.1")
    assert _stacks(called, "sin") == {(_LAYER,)}
    assert _stacks(called, "sin", _INLINED) == {(_LAYER, _FIRST), (_LAYER, _SECOND)}


def test_a_stack_that_begins_where_those_of_the_entry_do_is_complete() -> None:
    called = _CALLED.replace("OTHER", "sine(%c.1)").replace(
        '"sin" stack_frame_id=4', '"sin" stack_frame_id=3'
    )
    assert _stacks(called, "sin") == {(_SECOND,)}
