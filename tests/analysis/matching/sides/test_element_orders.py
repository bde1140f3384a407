"""Orders of the elements of tuples."""

from xlareport.analysis.matching.sides.element_orders import are_permuted, keep_order
from xlareport.hlo.shape import parse_shape

BEFORE = parse_shape("(s32[], f32[8,4], f32[8,4], f32[3,5])")


def test_arrays_of_equal_rank_and_other_sizes_show_another_order() -> None:
    after = parse_shape("(s32[], f32[3,5], f32[8,4], f32[8,4])")
    assert are_permuted(BEFORE, after)
    assert not keep_order(BEFORE, after)


def test_shares_of_arrays_are_in_the_same_order() -> None:
    after = parse_shape("(s32[], f32[4,4], f32[4,4], f32[3,5])")
    assert not are_permuted(BEFORE, after)
    assert keep_order(BEFORE, after)


def test_elements_of_other_kinds_keep_no_order() -> None:
    assert are_permuted(BEFORE, parse_shape("(f32[8,4], s32[], f32[8,4], f32[3,5])"))
    after = parse_shape("(s32[], f32[8,4], f32[8,4])")
    assert not are_permuted(BEFORE, after)
    assert not keep_order(BEFORE, after)
