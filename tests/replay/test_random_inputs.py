"""Ranges of inputs by how they are used."""

import pytest
from tests.replay.programs import entry, program

from xlareport.replay.random_inputs import InputRange, input_ranges
from xlareport.replay.runnable_program import NotRunnableError


def ranges(lines: str, before: str = "") -> list[InputRange]:
    return input_ranges(program(entry(lines, before)))


def test_an_index_stays_within_the_smallest_dimension_that_it_indexes() -> None:
    table, start = ranges(
        """%t = f32[50,8] parameter(0)
        %i = s32[] parameter(1)
        %j = s32[] convert(%i)
        ROOT %s = f32[1,1] dynamic-slice(%t, %j, %j), dynamic_slice_sizes={1,1}"""
    )
    assert (start.low, start.high) == (0, 8)
    assert table.low < 0 < table.high


def test_so_do_those_of_a_gather_that_a_computation_does() -> None:
    called = """%f (t: f32[50,8], i: s32[3,1]) -> f32[3,8] {
  %t = f32[50,8] parameter(0)
  %i = s32[3,1] parameter(1)
  ROOT %g = f32[3,8] gather(%t, %i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
}"""  # noqa: E501 - a line of HLO
    _, indices = ranges(
        """%t = f32[50,8] parameter(0)
        %i = s32[3,1] parameter(1)
        ROOT %c = f32[3,8] call(%t, %i), to_apply=%f""",
        called,
    )
    assert (indices.low, indices.high, indices.dtype) == (0, 50, "int32")


def test_what_a_root_reads_is_positive_through_sums() -> None:
    moment, gradient = ranges(
        """%v = f32[4] parameter(0)
        %g = f32[4] parameter(1)
        %s = f32[4] multiply(%v, %v)
        %r = f32[4] sqrt(%s)
        ROOT %d = f32[4] subtract(%g, %r)"""
    )
    assert moment.low > 0
    assert gradient.low < 0


def test_products_are_scaled_by_how_many_are_summed() -> None:
    (left, _) = ranges(
        """%a = f32[2,256] parameter(0)
        %b = f32[256,2] parameter(1)
        ROOT %d = f32[2,2] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
    )
    assert left.high == 0.25


def test_other_types() -> None:
    mask, key, count = ranges(
        """%p = pred[3] parameter(0)
        %k = u32[2] parameter(1)
        %n = s32[] parameter(2)
        %x = u32[2] xor(%k, %k)
        ROOT %t = (pred[3], u32[2], s32[]) tuple(%p, %x, %n)"""
    )
    assert (mask.dtype, key.high, count.low, count.high) == ("bool", 1 << 32, 1, 8)


def test_through_a_loop_and_its_tuple() -> None:
    body = """%body (p: (s32[], f32[9])) -> (s32[], f32[9]) {
  %p = (s32[], f32[9]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[9] get-tuple-element(%p), index=1
  %s = f32[1] dynamic-slice(%x, %i), dynamic_slice_sizes={1}
  %y = f32[9] sqrt(%x)
  ROOT %t = (s32[], f32[9]) tuple(%i, %y)
}
%cond (p: (s32[], f32[9])) -> pred[] {
  %p = (s32[], f32[9]) parameter(0)
  ROOT %c = pred[] constant(false)
}"""
    start, values = ranges(
        """%i = s32[] parameter(0)
        %x = f32[9] parameter(1)
        %t = (s32[], f32[9]) tuple(%i, %x)
        ROOT %w = (s32[], f32[9]) while(%t), condition=%cond, body=%body""",
        body,
    )
    assert start.high == 9
    assert values.low > 0


def test_a_type_without_inputs_is_named() -> None:
    with pytest.raises(NotRunnableError, match="token"):
        ranges("ROOT %t = token[] parameter(0)")
