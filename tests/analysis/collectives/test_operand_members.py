"""A combined collective of one snapshot as its members, told apart by its operands."""

from collections.abc import Callable

from xlareport.analysis.collectives.operand_members import split_operands
from xlareport.hlo.model import HloModule, Instruction

ReadText = Callable[[str], HloModule]
TPU = """
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (x: f32[], w: f32[64,16]) -> (f32[], f32[64,16]) {
  %loss = f32[] parameter(0), metadata={op_name="jit(f)/jvp()/reduce_sum"}
  %gradient = f32[64,16] parameter(1)
  %all-reduce.1 = (f32[], f32[64,16]) all-reduce(%loss, %gradient), to_apply=%sum, \
metadata={op_name="jit(f)/jvp()/reduce_sum" source_file="f.py" source_line=3}
  %get-tuple-element.1 = f32[] get-tuple-element(%all-reduce.1), index=0, \
metadata={op_name="jit(f)/jvp()/reduce_sum" source_file="f.py" source_line=3}
  %get-tuple-element.2 = f32[64,16] get-tuple-element(%all-reduce.1), index=1, \
metadata={op_name="jit(f)/transpose(jvp())/scatter-add" source_file="f.py" source_line=7}
  ROOT %out = (f32[], f32[64,16]) tuple(%get-tuple-element.1, %get-tuple-element.2)
}
"""


def _members(module: HloModule) -> tuple[Instruction, ...]:
    home = module.by_name["main"]
    return split_operands(module, home, home.by_name["all-reduce.1"])


def test_each_operand_has_shape_op_and_line_of_its_own(read_text: ReadText) -> None:
    members = _members(read_text(TPU))
    assert [
        (
            member.operands,
            member.shape.text,
            member.metadata.op_name,
            member.metadata.source_line,
        )
        for member in members
    ] == [
        (("loss",), "f32[]", "jit(f)/jvp()/reduce_sum", 3),
        (("gradient",), "f32[64,16]", "jit(f)/transpose(jvp())/scatter-add", 7),
    ]


def test_one_operand_is_the_collective_itself(read_text: ReadText) -> None:
    lone = TPU.replace(
        "(f32[], f32[64,16]) all-reduce(%loss, %gradient)", "f32[] all-reduce(%loss)"
    )
    (member,) = _members(read_text(lone))
    assert member.name == "all-reduce.1"
    assert member.metadata.source_line == 3
