from tests.modules import parse_module

from xlareport.analysis.source.locations import SourcePlace, op_name_of, place_of, places_of
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

TEXT = """HloModule m

FileNames
1 "/usr/lib/python3.12/site-packages/jax/nn.py"
2 "/home/me/train.py"

FunctionNames
1 "relu"
2 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=5 end_line=5 column=1 end_column=9}
2 {file_name_id=2 function_name_id=2 line=12 end_line=12 column=1 end_column=9}

StackFrames
1 {file_location_id=2}
2 {file_location_id=1 parent_frame_id=2}
3 {file_location_id=1}

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %t = f32[4]{0} tanh(%p), metadata={op_name="jit(f)/tanh" stack_frame_id=2}
}

ENTRY %e (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %a = f32[4]{0} add(%x, %x), metadata={op_name="jit(f)/add" stack_frame_id=2}
  %b = f32[4]{0} add(%a, %x), metadata={stack_frame_id=3}
  %c = f32[4]{0} add(%b, %x), metadata={source_file="/home/me/old.py" source_line=7}
  ROOT %f = f32[4]{0} fusion(%c), kind=kLoop, calls=%fused
}
"""


def module() -> HloModule:
    return parse_module(TEXT)


def test_the_innermost_frame_that_is_the_users_counts() -> None:
    made = module()
    entry = made.by_name["e"].by_name
    assert place_of(entry["a"], made) == SourcePlace("/home/me/train.py", 12, "loss")
    framework = place_of(entry["b"], made)
    assert framework is not None
    assert framework.short == "nn.py:5", "where all frames are the framework's, the innermost"
    assert place_of(entry["x"], made) is None


def test_a_place_beside_the_instruction() -> None:
    made = module()
    found = place_of(made.by_name["e"].by_name["c"], made)
    assert found == SourcePlace("/home/me/old.py", 7)
    assert (found.text, found.short) == ("/home/me/old.py:7", "old.py:7")


def test_a_silent_fusion_stands_where_its_root_does() -> None:
    made = module()
    fusion = made.by_name["e"].by_name["f"]
    assert place_of(fusion, made) is None
    assert places_of(made)(fusion) == SourcePlace("/home/me/train.py", 12, "loss")
    assert op_name_of(fusion, made) == "jit(f)/tanh"


def test_what_stands_for_no_file_is_no_place() -> None:
    text = """HloModule m

ENTRY %e (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0), metadata={source_file="dummy_file_name" source_line=10}
  ROOT %a = f32[4]{0} add(%x, %x), metadata={source_file="-" source_line=4}
}
"""
    cluster = TextReader().read(text.encode(), "m.txt")

    assert cluster is not None
    assert [place_of(instruction, cluster) for instruction in cluster.instructions] == [None, None]
