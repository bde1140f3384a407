"""What is cut out stands alone: everything it calls comes along, everything else is given to it."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.extract import cut_computation, cut_instruction
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

TEXT = b"""HloModule jit_f, is_scheduled=true, num_partitions=2

FileNames
1 "/home/user/f.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%unused (c: f32[]) -> f32[] {
  ROOT %c = f32[] parameter(0)
}

%fused (p: f32[8]) -> f32[] {
  %p = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %r = f32[] reduce(%p, %zero), dimensions={0}, to_apply=%sum, metadata={stack_frame_id=1}
}

ENTRY %main (x: f32[8], y: f32[8]) -> f32[] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %m = f32[8]{0} multiply(%x, %y)
  %n = f32[8]{0} negate(%m), control-predecessors={%x}
  ROOT %f = f32[] fusion(%n), kind=kLoop, calls=%fused, control-predecessors={%m}
}
"""


@pytest.fixture(scope="module")
def module() -> HloModule:
    return parse_module(TEXT)


def test_a_computation_brings_what_it_calls(module: HloModule) -> None:
    text = cut_computation(module, "fused")

    assert text.startswith("HloModule jit_f.fused, num_partitions=2\n\n%sum (a:")
    assert "ENTRY %fused (p: f32[8]) -> f32[] {\n  %p = " in text
    assert "unused" not in text
    assert "is_scheduled" not in text


def test_the_source_line_is_written_out(module: HloModule) -> None:
    text = cut_computation(module, "fused")

    assert 'metadata={source_file="/home/user/f.py" source_line=7}' in text


def test_what_feeds_an_instruction_becomes_a_parameter(module: HloModule) -> None:
    lines = cut_instruction(module, "main", "f").splitlines()

    assert lines[-4:] == [
        "ENTRY %cut {",
        "  %n = f32[8]{0} parameter(0)",
        "  ROOT %f = f32[] fusion(%n), kind=kLoop, calls=%fused",
        "}",
    ]
    assert any(line.startswith("%fused ") for line in lines)
    assert any(line.startswith("%sum ") for line in lines)


def test_producers_come_along_up_to_the_radius(module: HloModule) -> None:
    lines = cut_instruction(module, "main", "f", radius=9).splitlines()

    assert lines[-7:] == [
        "ENTRY %cut {",
        "  %x = f32[8]{0} parameter(0)",
        "  %y = f32[8]{0} parameter(1)",
        "  %m = f32[8]{0} multiply(%x, %y)",
        "  %n = f32[8]{0} negate(%m)",
        "  ROOT %f = f32[] fusion(%n), kind=kLoop, calls=%fused",
        "}",
    ]


def test_a_parameter_alone_is_the_first(module: HloModule) -> None:
    assert "  ROOT %y = f32[8]{0} parameter(0)\n" in cut_instruction(module, "main", "y")


def test_what_is_cut_can_be_read_again(module: HloModule) -> None:
    reader = TextReader()
    again = reader.read(cut_computation(module, "main").encode(), "cut.txt")

    assert reader.problems == []
    assert again is not None
    assert [computation.name for computation in again.computations] == ["sum", "fused", "main"]


@pytest.mark.parametrize(("computation", "name"), [("nope", "f"), ("main", "nope")])
def test_what_is_not_there_is_a_key_error(module: HloModule, computation: str, name: str) -> None:
    with pytest.raises(KeyError):
        cut_instruction(module, computation, name)
