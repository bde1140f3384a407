"""Old and new shapes are values; words stand around them."""

import pytest

from xlareport.analysis.steps.details import ShapeChange
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.shape_changes import compare_shapes, shortened
from xlareport.hlo.shape import Shape, parse_shape


def _shape(text: str) -> Shape:
    return parse_shape(text)


def test_a_change_is_written_with_both_values_set_as_code() -> None:
    change = ShapeChange("f32[2]", "f32[3]", lead="1 of 2 elements, ", tail=", and more")
    assert str(change) == "1 of 2 elements, f32[2] → f32[3], and more"
    assert change.written(lambda value: f"`{value}`") == (
        "1 of 2 elements, `f32[2]` → `f32[3]`, and more"
    )


def test_of_a_tuple_the_elements_that_changed_are_counted() -> None:
    result = compare_shapes(_shape("(f32[2], s32[])"), _shape("(f32[3], s32[])"))
    assert result == {Kind.SHAPE: ShapeChange("f32[2]", "f32[3]", lead="1 of 2 elements, ")}


def test_equal_shapes_have_no_difference() -> None:
    assert compare_shapes(_shape("f32[2]{0}"), _shape("f32[2]{0}")) == {}


def test_what_is_missing_is_none_and_a_common_prefix_is_left_out() -> None:
    assert shortened("", "x") == ShapeChange("none", "x")
    change = shortened("a" * 70 + "b", "a" * 70 + "c")
    assert change.before.startswith("…")
    assert change.before.endswith("b")


@pytest.mark.parametrize(
    ("old", "new", "is_tiling"),
    [
        ("f32[8,2]{1,0}", "f32[8,2]{1,0:T(8,128)}", True),
        ("f32[8,2]{1,0}", "f32[8,2]{0,1:T(8,128)}", False),
        ("pred[8,2]{1,0:T(8,128)}", "pred[8,2]{1,0:T(8,128)(4,1)S(1)}", True),
        ("s4[8,2]{1,0}", "s4[8,2]{1,0:E(4)}", False),
        ("(f32[4]{0}, f32[8,2]{1,0})", "(f32[4]{0:T(128)}, f32[8,2]{0,1:T(8,128)})", False),
        ("f32[]", "f32[]{:T(128)}", True),
    ],
)
def test_other_tiles_leave_the_order_of_dimensions(old: str, new: str, *, is_tiling: bool) -> None:
    change = compare_shapes(_shape(old), _shape(new))[Kind.LAYOUT]
    assert isinstance(change, ShapeChange)
    assert change.is_tiling is is_tiling


def test_of_a_tuple_in_another_order_only_layouts_changed() -> None:
    old = _shape("(s32[], bf16[2,4]{1,0}, f32[8]{0})")
    new = _shape("(s32[], f32[8]{0}, bf16[2,4]{0,1})")
    change = ShapeChange(
        "{1,0}", "{0,1}", lead="1 of 3 elements, ", tail=", and elements in another order"
    )
    assert compare_shapes(old, new) == {Kind.LAYOUT: change}


def test_of_a_tuple_in_another_order_divided_elements_keep_their_types() -> None:
    old = _shape("(s32[], f32[16,8,3], c64[16,8], f32[16,8])")
    new = _shape("(s32[], c64[16,2], f32[16,2], f32[16,2,3])")
    change = ShapeChange(
        "f32[16,8,3]",
        "f32[16,2,3]",
        lead="3 of 4 elements, such as ",
        tail=", and elements in another order",
    )
    assert compare_shapes(old, new) == {Kind.SHAPE: change}


def test_which_of_two_elements_was_divided_is_not_guessed() -> None:
    old = _shape("(f32[16,8], f32[8,8], s32[])")
    new = _shape("(s32[], f32[4,4], f32[8,4])")
    change = compare_shapes(old, new)[Kind.SHAPE]
    assert isinstance(change, ShapeChange)
    assert change.tail == ", and the others in another order"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{%" + "a" * 40 + ", %" + "b" * 40 + "}", "{%" + "a" * 40 + " and 1 more}"),
        ("{%" + "a" * 55 + ", %b}", "{%" + "a" * 55 + " and 1 more}"),
        ("{%" + "a" * 60 + ", %b}", "{2 instructions}"),
        ("%" + "a" * 80, "%" + "a" * 58 + "…"),
    ],
)
def test_a_long_text_ends_with_a_whole_name(text: str, shown: str) -> None:
    assert shortened("", text).after == shown


def test_element_types_in_another_order_did_not_change() -> None:
    old = parse_shape("(f32[64,8]{1,0}, f32[64,4]{1,0}, bf16[9,4,8]{2,1,0}, f32[1,4,8]{2,1,0})")
    new = parse_shape("(f32[16,4]{1,0}, f32[1,4,4]{2,1,0}, f32[1,2,8]{2,1,0}, bf16[9,16]{1,0})")
    changes = compare_shapes(old, new)
    assert [*changes] == [Kind.SHAPE]
    assert "f32[64,8]{1,0} → f32[16,4]{1,0}" in str(changes[Kind.SHAPE])


def test_a_result_that_is_an_element_of_a_tuple_now_is_no_change_of_its_elements() -> None:
    old = _shape("(f32[8]{0}, s32[8]{0})")
    new = _shape("(f32[4]{0}, (f32[8]{0}, s32[8]{0}))")
    assert compare_shapes(old, new) == {
        Kind.SHAPE: "2 elements → 2 elements, the former result is element 1"
    }


def test_a_tuple_of_layouts_is_no_element_of_itself() -> None:
    old, new = _shape("(f32[8,2]{1,0}, s32[8]{0})"), _shape("(f32[8,2]{0,1}, s32[8]{0})")
    assert [*compare_shapes(old, new)] == [Kind.LAYOUT]


def test_memory_spaces_of_a_tuple_in_a_tuple_are_compared_array_by_array() -> None:
    """An `async-start` has its operands as one tuple."""
    old = _shape("(s32[], (s32[8]{0:S(9)}, s32[3]{0:S(11)}, s32[4]{0:S(9)}))")
    new = _shape("(s32[], (s32[8]{0}, s32[3]{0:S(11)}, s32[4]{0}))")
    assert compare_shapes(old, new) == {
        Kind.SPACE: "1 of 2 elements, 2 of 3 arrays, S(9) → S(0)",
    }
