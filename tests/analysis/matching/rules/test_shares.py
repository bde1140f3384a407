"""Work that is divided among devices, with operands behind collectives, slices and masks."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules import frames, shares, spreading
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule step
ENTRY %main (a: f32[64,32], b: f32[64,32]) -> f32[64,32] {
  %a = f32[64,32]{1,0} parameter(0)
  %b = f32[64,32]{1,0} parameter(1)
  %exp = f32[64,32]{1,0} exponential(%a), metadata={op_name="jit(f)/exp"}
  %add.1 = f32[64,32]{1,0} add(%exp, %b), metadata={op_name="jit(f)/add"}
  %add.2 = f32[64,32]{1,0} add(%add.1, %a), metadata={op_name="jit(f)/add"}
  %copy.1 = f32[64,32]{1,0} copy(%add.2), metadata={op_name="jit(f)/constraint"}
  ROOT %log = f32[64,32]{1,0} log(%copy.1), metadata={op_name="jit(f)/log"}
}
"""
_AFTER = """
HloModule step
ENTRY %main_spmd (a: f32[32,16], b: f32[32,32]) -> f32[32,16] {
  %a.0 = f32[32,16]{1,0} parameter(0)
  %b.0 = f32[32,32]{1,0} parameter(1)
  %exp.0 = f32[32,16]{1,0} exponential(%a.0), metadata={op_name="jit(f)/exp"}
  %all-gather.1 = f32[32,32]{1,0} all-gather(%exp.0), dimensions={1}
  %add.7 = f32[32,32]{1,0} add(%all-gather.1, %b.0), metadata={op_name="jit(f)/add"}
  %all-gather.2 = f32[32,32]{1,0} all-gather(%a.0), dimensions={1}
  %add.9 = f32[32,32]{1,0} add(%add.7, %all-gather.2), metadata={op_name="jit(f)/add"}
  %copy.9 = f32[32,32]{1,0} copy(%add.9), metadata={op_name="jit(f)/constraint"}
  %zero = s32[] constant(0)
  %device = u32[] partition-id()
  %offset = s32[] convert(%device)
  %part = f32[32,16]{1,0} dynamic-slice(%copy.9, %zero, %offset), dynamic_slice_sizes={32,16}
  ROOT %log.9 = f32[32,16]{1,0} log(%part), metadata={op_name="jit(f)/log"}
}
"""


def test_an_operation_continues_as_its_share_behind_collectives_and_slices(read: Read) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    partners = {
        name: matching.partner_after(Place("main", name))
        for name in ("add.1", "add.2", "copy.1", "log")
    }
    assert partners == {
        "add.1": Place("main_spmd", "add.7"),
        "add.2": Place("main_spmd", "add.9"),
        "copy.1": Place("main_spmd", "copy.9"),
        "log": Place("main_spmd", "log.9"),
    }


def test_an_operation_on_other_values_is_no_share(read: Read) -> None:
    assert _pairs(read, _AFTER)["add.1"] == "add.7"
    after = _AFTER.replace("add(%all-gather.1, %b.0)", "add(%a.0, %a.0)")
    assert _pairs(read, after)["add.1"] is None


def _pairs(read: Read, after: str) -> dict[str, str | None]:
    """Return the partners after the arguments and their users were paired, and this rule ran."""
    search = start(read(_BEFORE), read(after))
    for rule in (frames.entry_arguments, spreading.neighbors, shares.shared_work):
        rule(search)
    return {
        node.instruction.name: node.partner.instruction.name if node.partner else None
        for node in search.before.nodes
    }


_MASKED = (
    """
HloModule step
ENTRY %main (a: f32[64], i: s32[8,1], u: f32[8]) -> f32[64] {
  %a = f32[64]{0} parameter(0)
  %i = s32[8,1]{1,0} parameter(1)
  %u = f32[8]{0} parameter(2)
  %c = f32[] constant(1)
  %fill = f32[64]{0} broadcast(%c), dimensions={}
  %scatter.1 = f32[64]{0} scatter(%fill, %i, %u), to_apply=%sum, metadata={op_name="jit(f)/s"}
  ROOT %add.1 = f32[64]{0} add(%scatter.1, %a), metadata={op_name="jit(f)/add"}
}
""",
    """
HloModule step
ENTRY %main_spmd (a: f32[64], i: s32[4,1], u: f32[4]) -> f32[64] {
  %a.0 = f32[64]{0} parameter(0)
  %i.0 = s32[4,1]{1,0} parameter(1)
  %u.0 = f32[4]{0} parameter(2)
  %c.0 = f32[] constant(1)
  %fill.0 = f32[64]{0} broadcast(%c.0), dimensions={}
  %z.0 = f32[] constant(0)
  %zeros = f32[64]{0} broadcast(%z.0), dimensions={}
  %device = u32[] partition-id()
  %first = u32[] constant(0)
  %other = pred[] compare(%device, %first), direction=NE
  %others = pred[64]{0} broadcast(%other), dimensions={}
  %select.1 = f32[64]{0} select(%others, %zeros, %fill.0)
  %scatter.9 = f32[64]{0} scatter(%select.1, %i.0, %u.0), to_apply=%sum, \
metadata={op_name="jit(f)/s"}
  %all-reduce.1 = f32[64]{0} all-reduce(%scatter.9), to_apply=%sum
  ROOT %add.9 = f32[64]{0} add(%all-reduce.1, %a.0), metadata={op_name="jit(f)/add"}
}
""",
)
_SUM = """
HloModule step
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}
"""


def test_a_masked_fill_continues_as_the_fill_and_not_as_its_mask(read: Read) -> None:
    before, after = (read(_SUM + text.replace("HloModule step\n", "")) for text in _MASKED)
    matching = match(before, after)
    assert matching.partner_after(Place("main", "fill")) == Place("main_spmd", "fill.0")


_FILLED = (
    """
HloModule step
ENTRY %main (s: f32[], a: f32[8,16], b: f32[4,8], c: f32[8,8]) -> (f32[8,16], f32[4,8], f32[8,8]) {
  %s = f32[] parameter(0)
  %a = f32[8,16]{1,0} parameter(1), sharding={devices=[1,2]<=[2]}
  %b = f32[4,8]{1,0} parameter(2), sharding={devices=[1,2]<=[2]}
  %c = f32[8,8]{1,0} parameter(3), sharding={devices=[2,1]<=[2]}
  %half.1 = f32[8,16]{1,0} broadcast(%s), dimensions={}, sharding={devices=[1,2]<=[2]}
  %half.2 = f32[4,8]{1,0} broadcast(%s), dimensions={}, sharding={devices=[1,2]<=[2]}
  %half.3 = f32[8,8]{1,0} broadcast(%s), dimensions={}, sharding={devices=[2,1]<=[2]}
  %sum.1 = f32[8,16]{1,0} dot(%a, %a), sharding={devices=[1,2]<=[2]}
  %sum.2 = f32[4,8]{1,0} dot(%b, %b), sharding={devices=[1,2]<=[2]}
  %sum.3 = f32[8,8]{1,0} dot(%c, %c), sharding={devices=[2,1]<=[2]}
  %mul.1 = f32[8,16]{1,0} multiply(%half.1, %sum.1), sharding={devices=[1,2]<=[2]}
  %mul.2 = f32[4,8]{1,0} multiply(%half.2, %sum.2), sharding={devices=[1,2]<=[2]}
  %mul.3 = f32[8,8]{1,0} multiply(%half.3, %sum.3), sharding={devices=[2,1]<=[2]}
  ROOT %all = (f32[8,16], f32[4,8], f32[8,8]) tuple(%mul.1, %mul.2, %mul.3)
}
""",
    """
HloModule step
ENTRY %main_spmd (s: f32[], a: f32[8,8], b: f32[4,4], c: f32[4,8]) -> (f32[8,8], f32[4,4], \
f32[4,8]) {
  %s.0 = f32[] parameter(0)
  %a.0 = f32[8,8]{1,0} parameter(1), sharding={devices=[1,2]<=[2]}
  %b.0 = f32[4,4]{1,0} parameter(2), sharding={devices=[1,2]<=[2]}
  %c.0 = f32[4,8]{1,0} parameter(3), sharding={devices=[2,1]<=[2]}
  %half.4 = f32[8,8]{1,0} broadcast(%s.0), dimensions={}
  %half.5 = f32[4,4]{1,0} broadcast(%s.0), dimensions={}
  %half.6 = f32[4,8]{1,0} broadcast(%s.0), dimensions={}
  %sum.4 = f32[8,8]{1,0} dot(%a.0, %a.0)
  %sum.5 = f32[4,4]{1,0} dot(%b.0, %b.0)
  %sum.6 = f32[4,8]{1,0} dot(%c.0, %c.0)
  %mul.4 = f32[8,8]{1,0} multiply(%half.4, %sum.4)
  %mul.5 = f32[4,4]{1,0} multiply(%half.5, %sum.5)
  %mul.6 = f32[4,8]{1,0} multiply(%half.6, %sum.6)
  ROOT %all.1 = (f32[8,8], f32[4,4], f32[4,8]) tuple(%mul.4, %mul.5, %mul.6)
}
""",
)
"""The share of one array has the shape that another had before."""


def test_the_sharding_says_which_shape_a_share_has(read: Read) -> None:
    before, after = map(read, _FILLED)
    matching = match(before, after)
    partners = {
        name: matching.partner_after(Place("main", name))
        for name in ("half.1", "half.2", "half.3", "mul.1", "mul.2", "mul.3")
    }
    assert partners == {
        "half.1": Place("main_spmd", "half.4"),
        "half.2": Place("main_spmd", "half.5"),
        "half.3": Place("main_spmd", "half.6"),
        "mul.1": Place("main_spmd", "mul.4"),
        "mul.2": Place("main_spmd", "mul.5"),
        "mul.3": Place("main_spmd", "mul.6"),
    }


_ACCUMULATED = (
    """
HloModule step
ENTRY %main (a: f32[8,16], b: f32[8,16]) -> f32[8,16] {
  %a = f32[8,16]{1,0} parameter(0), sharding={devices=[1,2]<=[2]}
  %b = f32[8,16]{1,0} parameter(1), sharding={devices=[1,2]<=[2]}
  %dot.1 = f32[8,16]{1,0} dot(%a, %a), sharding={devices=[1,2]<=[2]}, metadata={op_name="f/dot"}
  ROOT %add.1 = f32[8,16]{1,0} add(%b, %dot.1), sharding={devices=[1,2]<=[2]}, \
metadata={op_name="f/add"}
}
""",
    """
HloModule step
ENTRY %main_spmd (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a.0 = f32[8,8]{1,0} parameter(0), sharding={devices=[1,2]<=[2]}
  %b.0 = f32[8,8]{1,0} parameter(1), sharding={devices=[1,2]<=[2]}
  %zero = f32[] constant(0)
  %zeros = f32[8,8]{1,0} broadcast(%zero), dimensions={}
  %dot.9 = f32[8,8]{1,0} dot(%a.0, %a.0), metadata={op_name="f/dot"}
  %add.8 = f32[8,8]{1,0} add(%zeros, %dot.9), metadata={op_name="f/dot"}
  %copy.8 = f32[8,8]{1,0} copy(%add.8), metadata={op_name="f/dot"}
  %sent = f32[8,8]{1,0} collective-permute(%b.0), source_target_pairs={{0,1},{1,0}}
  ROOT %add.9 = f32[8,8]{1,0} add(%sent, %copy.8), metadata={op_name="f/add"}
}
""",
)
"""The partitioner adds up parts of the dot, in an instruction of the shape of its user."""


def test_what_is_added_for_an_operation_is_not_its_user(read: Read) -> None:
    before, after = map(read, _ACCUMULATED)
    matching = match(before, after)
    assert matching.partner_after(Place("main", "dot.1")) == Place("main_spmd", "dot.9")
    assert matching.partner_after(Place("main", "add.1")) == Place("main_spmd", "add.9")


_MARKED = """
HloModule step
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8] parameter(0)
  %b = f32[8] parameter(1)
  %mark.1 = f32[8] custom-call(%a), custom_call_target="Sharding", metadata={op_name="f/constraint"}
  %mark.2 = f32[8] custom-call(%b), custom_call_target="Sharding", metadata={op_name="f/constraint"}
  ROOT %both = (f32[8], f32[8]) tuple(%mark.1, %mark.2)
}
"""


def test_a_sharding_constraint_becomes_the_copy_of_what_it_marked(read: Read) -> None:
    after = _MARKED.replace("custom-call(", "copy(").replace(', custom_call_target="Sharding"', "")
    after = after.replace("tuple(%mark.1, %mark.2)", "tuple(%mark.8, %mark.9)")
    after = after.replace("%mark.1 ", "%mark.8 ").replace("%mark.2 ", "%mark.9 ")
    search = start(read(_MARKED), read(after))
    frames.entry_arguments(search)
    shares.constraints(search)
    pairs = {link.before.instruction.name: link.after.instruction.name for link in search.links}
    assert pairs["mark.1"] == "mark.8"
    assert pairs["mark.2"] == "mark.9"


_RESHARDED = (
    """
HloModule step
ENTRY %main (a: f32[16,24]) -> f32[3,16,8] {
  %a = f32[16,24] parameter(0), sharding={devices=[1,4]<=[4]}
  %mul.1 = f32[16,3,8] reshape(%a), sharding={devices=[4,1,1]<=[4]}, metadata={op_name="f/mul"}
  %mul.2 = f32[3,16,8] transpose(%mul.1), dimensions={1,0,2}, sharding={devices=[1,4,1]<=[4]}, \
metadata={op_name="f/mul"}
  ROOT %exp.1 = f32[3,16,8] exponential(%mul.2), metadata={op_name="f/exp"}
}
""",
    """
HloModule step
ENTRY %main_spmd (a: f32[16,6]) -> f32[3,4,8] {
  %a.0 = f32[16,6] parameter(0), sharding={devices=[1,4]<=[4]}
  %reshape.1 = f32[4,4,6] reshape(%a.0), metadata={op_name="f/mul"}
  %all-to-all.1 = f32[4,4,6] all-to-all(%reshape.1), dimensions={0}, metadata={op_name="f/mul"}
  %transpose.1 = f32[4,4,6] transpose(%all-to-all.1), dimensions={1,0,2}, \
metadata={op_name="f/mul"}
  %reshape.2 = f32[4,24] reshape(%transpose.1), sharding={devices=[4,1]<=[4]}, \
metadata={op_name="f/mul"}
  %mul.3 = f32[4,3,8] reshape(%reshape.2), sharding={devices=[4,1,1]<=[4]}, \
metadata={op_name="f/mul"}
  %mul.4 = f32[3,4,8] transpose(%mul.3), dimensions={1,0,2}, sharding={devices=[1,4,1]<=[4]}, \
metadata={op_name="f/mul"}
  ROOT %exp.2 = f32[3,4,8] exponential(%mul.4), metadata={op_name="f/exp"}
}
""",
)
"""The partitioner exchanges shares before the reshape, and reshapes for the exchange."""


def test_a_reshape_for_an_exchange_of_shares_is_not_the_reshape_of_the_program(read: Read) -> None:
    before, after = map(read, _RESHARDED)
    matching = match(before, after)
    assert matching.partner_after(Place("main", "mul.1")) == Place("main_spmd", "mul.3")
    assert matching.partner_after(Place("main", "mul.2")) == Place("main_spmd", "mul.4")


_STACKS = """FileNames
1 "model.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=0 end_column=1}
2 {file_name_id=1 function_name_id=1 line=4 end_line=4 column=0 end_column=1}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

"""
_WINDOWS = """
ENTRY %main (a: f32[32,16]) -> (f32[30,16], f32[31,16]) {
  %a = f32[32,16] parameter(0)
  %exp = f32[32,16] exponential(%a), metadata={op_name="exp"}
  %s.1 = f32[31,16] slice(%exp), slice={[1:32], [0:16]}, metadata={op_name="s" stack_frame_id=1}
  %s.2 = f32[30,16] slice(%exp), slice={[0:30], [0:16]}, metadata={op_name="s" stack_frame_id=2}
  ROOT %t = (f32[30,16], f32[31,16]) tuple(%s.2, %s.1)
}
"""
_SHARED_WINDOWS = """
ENTRY %main_spmd (a: f32[32,8]) -> (f32[30,8], f32[31,8]) {
  %a.0 = f32[32,8] parameter(0)
  %exp.0 = f32[32,8] exponential(%a.0), metadata={op_name="exp"}
  %s.3 = f32[30,8] slice(%exp.0), slice={[0:30], [0:8]}, metadata={op_name="s" stack_frame_id=2}
  %s.4 = f32[31,8] slice(%exp.0), slice={[1:32], [0:8]}, metadata={op_name="s" stack_frame_id=1}
  %copy.3 = f32[30,8]{0,1} copy(%s.3)
  %copy.4 = f32[31,8]{0,1} copy(%s.4)
  ROOT %t.0 = (f32[30,8], f32[31,8]) tuple(%copy.3, %copy.4)
}
"""


@pytest.mark.parametrize("is_renumbered", [False, True])
def test_slices_of_one_op_name_continue_as_those_of_their_source_lines(
    read: Read, *, is_renumbered: bool
) -> None:
    after = _STACKS + _SHARED_WINDOWS
    if is_renumbered:
        for number in "12":
            after = after.replace(f"stack_frame_id={number}", f"stack_frame_id={number}0")
            after = after.replace(f"\n{number} {{file_location", f"\n{number}0 {{file_location")
    search = start(read(_STACKS + _WINDOWS), read(after))
    frames.entry_arguments(search)
    spreading.neighbors(search)
    partners = {node.instruction.name: node.partner for node in search.before.nodes}
    for old, new in (("s.1", "s.4"), ("s.2", "s.3")):
        partner = partners[old]
        assert partner is not None
        assert partner.instruction.name == new


def test_slices_of_other_source_lines_are_not_told_apart(read: Read) -> None:
    other = _STACKS.replace("line=3", "line=9").replace("line=4", "line=10")
    search = start(read(_STACKS + _WINDOWS), read(other + _SHARED_WINDOWS))
    frames.entry_arguments(search)
    spreading.neighbors(search)
    slices = (node for node in search.before.nodes if node.instruction.opcode == "slice")
    assert [node.partner for node in slices] == [None, None]
