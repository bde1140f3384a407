"""Pairs that the sizes of divided work exclude."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.share_sizes import count_others, is_no_share
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_GRIDS = """ENTRY %main (a: f32[64,16], b: f32[32,8]) -> (f32[64,16], f32[32,8]) {
  %a = f32[64,16]{1,0} parameter(0)
  %b = f32[32,8]{1,0} parameter(1)
  %exp.1 = f32[64,16]{1,0} exponential(%a), metadata={op_name="jit(f)/exp"}
  %add.1 = f32[64,16]{1,0} add(%exp.1, %a), metadata={op_name="jit(f)/add"}
  %exp.2 = f32[32,8]{1,0} exponential(%b), metadata={op_name="jit(f)/exp"}
  %add.2 = f32[32,8]{1,0} add(%exp.2, %b), metadata={op_name="jit(f)/add"}
  ROOT %t = (f32[64,16]{1,0}, f32[32,8]{1,0}) tuple(%add.1, %add.2)
}
"""
_SHARES = """ENTRY %main_spmd (a: f32[16,8], b: f32[32,16]) -> (f32[16,8], f32[32,16]) {
  %a.0 = f32[16,8]{1,0} parameter(0)
  %b.0 = f32[32,16]{1,0} parameter(1)
  %copy.1 = f32[16,8]{0,1} copy(%a.0)
  %copy.2 = f32[32,16]{0,1} copy(%b.0)
  %exp.3 = f32[16,8]{1,0} exponential(%copy.1), metadata={op_name="jit(f)/exp"}
  %add.3 = f32[16,8]{1,0} add(%exp.3, %copy.1), metadata={op_name="jit(f)/add"}
  %exp.4 = f32[32,16]{1,0} exponential(%copy.2), metadata={op_name="jit(f)/exp"}
  %add.4 = f32[32,16]{1,0} add(%exp.4, %copy.2), metadata={op_name="jit(f)/add"}
  ROOT %t.0 = (f32[16,8]{1,0}, f32[32,16]{1,0}) tuple(%add.3, %add.4)
}
"""


def test_work_on_a_grid_is_not_paired_with_that_on_a_larger_share(read: Read) -> None:
    matching = match(read(_GRIDS), read(_SHARES))
    assert matching.partner_after(Place("main", "add.2")) is None


_WORK = """ENTRY %main (a: f32[{rows},{summed}], b: f32[{summed},16]) -> f32[{rows},16] {{
  %a = f32[{rows},{summed}]{{1,0}} parameter(0)
  %b = f32[{summed},16]{{1,0}} parameter(1)
  %exp = f32[{rows},{summed}]{{1,0}} exponential(%a)
  ROOT %dot = f32[{rows},16] dot(%exp, %b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""


def _node(read: Read, name: str, sizes: tuple[int, int]) -> Node:
    module = read(_WORK.format(rows=sizes[0], summed=sizes[1]))
    (frame,) = start(module, read(_GRIDS)).before.graph.frames
    return frame.node(frame.computation.by_name[name])


@pytest.mark.parametrize(
    ("name", "new", "devices", "excluded"),
    [
        pytest.param("exp", (64, 32), 4, False, id="half of one dimension"),
        pytest.param("exp", (16, 64), 4, False, id="half of the other, turned"),
        pytest.param("exp", (17, 32), 4, False, id="rounded up"),
        pytest.param("exp", (256, 8), 4, True, id="a dimension grew"),
        pytest.param("exp", (8, 32), 4, True, id="smaller than a share"),
        pytest.param("exp", (8, 32), 1, False, id="an unknown number of devices"),
        pytest.param("dot", (512, 32), 4, False, id="merged dots"),
        pytest.param("dot", (64, 8), 4, False, id="a partial sum"),
        pytest.param("dot", (64, 4), 4, True, id="less than a partial sum"),
        pytest.param("dot", (64, 64), 4, True, id="a longer sum"),
    ],
)
def test_sizes_exclude_a_share(
    read: Read, name: str, new: tuple[int, int], devices: int, *, excluded: bool
) -> None:
    ours, theirs = (_node(read, name, sizes) for sizes in ((64, 32), new))
    assert is_no_share(ours, theirs, devices) is excluded


_LOOPS = """%body (p: (s32[], f32[{size},8])) -> (s32[], f32[{size},8]) {{
  %p = (s32[], f32[{size},8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[{size},8] get-tuple-element(%p), index=1
  ROOT %t = (s32[], f32[{size},8]) tuple(%i, %x)
}}
%condition (p: (s32[], f32[{size},8])) -> pred[] {{
  %p = (s32[], f32[{size},8]) parameter(0)
  ROOT %c = pred[] constant(false)
}}
ENTRY %main (a: (s32[], f32[{size},8])) -> (s32[], f32[{size},8]) {{
  %a = (s32[], f32[{size},8]) parameter(0)
  ROOT %while = (s32[], f32[{size},8]) while(%a), condition=%condition, body=%body
}}
"""


@pytest.mark.parametrize(
    ("size", "excluded"), [(16, False), (64, True), (4, True)], ids=["share", "larger", "smaller"]
)
def test_a_loop_carries_shares_of_its_arrays(read: Read, size: int, *, excluded: bool) -> None:
    whole, part = (read(_LOOPS.format(size=number)) for number in (32, size))
    frames = (start(module, read(_GRIDS)).before.graph.frames for module in (whole, part))
    entries = (next(f for f in known if f.computation.is_entry) for known in frames)
    ours, theirs = (frame.node(frame.computation.by_name["while"]) for frame in entries)
    assert is_no_share(ours, theirs, 4) is excluded


_DOT = """ENTRY %main (a: f32[{rows},16], b: f32[16,{columns}]) -> f32[{rows},{columns}] {{
  %a = f32[{rows},16] parameter(0)
  %b = f32[16,{columns}] parameter(1)
  ROOT %d = f32[{rows},{columns}] dot(%a, %b), lhs_contracting_dims={{1}},\
    rhs_contracting_dims={{0}}
}}
"""


def _dot(read: Read, sizes: tuple[int, int]) -> Node:
    module = read(_DOT.format(rows=sizes[0], columns=sizes[1]))
    (frame,) = start(module, read(_GRIDS)).before.graph.frames
    return frame.node(frame.computation.by_name["d"])


@pytest.mark.parametrize(
    ("new", "excluded"),
    [
        pytest.param((16, 8), False, id="both sides divided"),
        pytest.param((8, 16), False, id="and exchanged"),
        pytest.param((512, 8), False, id="merged"),
        pytest.param((512, 64), True, id="both sides longer"),
        pytest.param((512, 1), True, id="a side of less than a share"),
    ],
)
def test_merged_dots_keep_one_side(read: Read, new: tuple[int, int], *, excluded: bool) -> None:
    ours, theirs = (_dot(read, sizes) for sizes in ((32, 8), new))
    assert is_no_share(ours, theirs, 4) is excluded


@pytest.mark.parametrize(
    ("new", "excluded"), [((64, 8), False), ((16, 64), False), ((4, 32), True), ((128, 32), True)]
)
def test_a_guess_needs_a_number_of_elements_that_fits(
    read: Read, new: tuple[int, int], *, excluded: bool
) -> None:
    ours, theirs = (_node(read, "exp", sizes) for sizes in ((64, 32), new))
    assert count_others(ours, theirs, 4) is excluded


def test_a_list_of_dimensions_that_no_dot_can_have_says_nothing(read: Read) -> None:
    module = read(_DOT.format(rows=32, columns=8).replace("{1}", "{" + "9" * 50 + "}"))
    (frame,) = start(module, read(_GRIDS)).before.graph.frames
    node = frame.node(frame.computation.by_name["d"])
    assert not is_no_share(node, node, 4)


def test_a_dot_whose_sum_is_padded_in_the_same_step_goes_on(read: Read) -> None:
    """`cublas-pad-for-gemms` pads 33 to 40."""
    before = """ENTRY %main (p: f16[8,33], q: f16[33,8]) -> f16[8,8] {
  %p = f16[8,33]{1,0} parameter(0)
  %q = f16[33,8]{1,0} parameter(1)
  %dot.1 = f16[8,8]{1,0} dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/dot_general"}
  ROOT %exp = f16[8,8]{1,0} exponential(%dot.1)
}
"""
    after = """ENTRY %main_spmd (p: f16[4,33], q: f16[33,8]) -> f16[4,8] {
  %p = f16[4,33]{1,0} parameter(0)
  %q = f16[33,8]{1,0} parameter(1)
  %zero = f16[] constant(0)
  %pad.1 = f16[4,40]{1,0} pad(%p, %zero), padding=0_0x0_7
  %pad.2 = f16[40,8]{1,0} pad(%q, %zero), padding=0_7x0_0
  %dot.2 = f16[4,8]{1,0} dot(%pad.1, %pad.2), lhs_contracting_dims={1}, \
rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot_general"}
  ROOT %exp.1 = f16[4,8]{1,0} exponential(%dot.2)
}
"""
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "dot.1")) == Place("main_spmd", "dot.2")


_REWRITTEN = """ENTRY %main (a: f32[8,{summed}], k: f32[1,{summed},{columns}], x: f32[8,8])\
  -> f32[8,8] {{
  %a = f32[8,{summed}] parameter(0)
  %k = f32[1,{summed},{columns}] parameter(1)
  %x = f32[8,8] parameter(2)
  %convolution = f32[8,{columns}] convolution(%a, %k), window={{size=1}}, dim_labels=bf_0io->bf
  ROOT %multiply = f32[8,8] multiply(%x, %x)
}}
"""


@pytest.mark.parametrize(
    ("name", "summed", "columns", "devices", "excluded"),
    [
        pytest.param("multiply", 16, 8, 4, True, id="devices with several elements to sum"),
        pytest.param("multiply", 4, 8, 4, False, id="devices with one element to sum"),
        pytest.param("multiply", 16, 8, 1, False, id="an unknown number of devices"),
        pytest.param("convolution", 16, 8, 4, False, id="a convolution with the same result"),
        pytest.param("convolution", 16, 64, 4, True, id="a convolution with a larger result"),
    ],
)
def test_a_share_of_a_dot_is_rewritten_with_a_result_that_fits(
    read: Read, name: str, summed: int, columns: int, devices: int, *, excluded: bool
) -> None:
    dot = _DOT.format(rows=8, columns=8).replace("16", str(summed))
    modules = read(dot), read(_REWRITTEN.format(summed=summed, columns=columns))
    (ours,), (theirs,) = (start(module, read(_GRIDS)).before.graph.frames for module in modules)
    old = ours.node(ours.computation.by_name["d"])
    new = theirs.node(theirs.computation.by_name[name])
    assert is_no_share(old, new, devices) is excluded
