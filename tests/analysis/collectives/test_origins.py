"""The origins of collectives that passes made."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.collective_rows import CollectiveMember, CollectiveOrigin
from xlareport.analysis.collectives.origins import (
    _derived,
    _requested_words,
    join_origins,
    makes_none,
    split_operands,
)
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


@pytest.mark.parametrize(
    "name",
    [
        "async-collective-creator",
        "tpu_async_collective_creator",
        "gpu-convert-async-collectives-to-sync",
        "collective-permute-combiner",
        "latency-hiding-scheduler",
    ],
)
def test_a_pass_that_rearranges_collectives_makes_none(name: str) -> None:
    assert makes_none(name)


@pytest.mark.parametrize(
    "name", ["reduce-scatter-creator", "spmd-partitioning", "collective-pipeliner-forward"]
)
def test_other_passes_may_make_collectives(name: str) -> None:
    assert not makes_none(name)


def test_a_collective_of_the_program_has_its_op_and_line_where_they_are_known() -> None:
    assert _requested_words("psum", "a.py:4") == "Written in the program: `psum` at a.py:4."
    assert _requested_words("psum", "") == "Written in the program: `psum`."
    assert _requested_words("", "") == "Written in the program."


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


@pytest.mark.parametrize(
    ("whole", "reducing", "verb"),
    [
        (64, "add", "Sends the sum of"),
        (64, "maximum", "Sends the maximum of"),
        (64, "", "Does the work of"),
        (128, "add", "Combines"),
        (127, "add", "Does the work of"),
    ],
)
def test_a_collective_with_the_bytes_of_each_member_sends_their_sum(
    whole: int, reducing: str, verb: str
) -> None:
    origins = (
        CollectiveOrigin("0021", None, "p", None, None, "r", detail, (), "matched", None)
        for detail in ("Of `%dot.1`.", "Of `%dot.2`.")
    )
    members = [
        CollectiveMember(
            "all-reduce.1", None, "all-reduce", "f32[16]", 64, "", "", origin, None, ""
        )
        for origin in origins
    ]
    origin, _, _ = join_origins(members, whole, reducing, is_combined=whole == 128)
    assert origin.detail == f"{verb} 2 (2\u00d7 not known). Of the largest member: Of `%dot.1`."


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("all_to_all", "is the transpose of the collective of the forward pass at f.py:3."),
        ("psum_invariant", "adds the gradients of a value that the devices of a group share."),
    ],
)
def test_a_collective_of_the_backward_pass_has_its_cause(name: str, words: str) -> None:
    assert _derived(name, "f.py:3").endswith(f"a shard_map. It {words}")
