import pytest

from xlareport.hlo.shape import (
    ELEMENT_TYPES,
    MAX_DEPTH,
    ShapeError,
    bits_of,
    parse_shape,
    without_layout,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[]", ("f32", (), "", 1, 4)),
        (
            "f32[64,128]{1,0:T(8,128)(2,1)S(1)}",
            ("f32", (64, 128), "1,0:T(8,128)(2,1)S(1)", 8192, 32768),
        ),
        ("bf16[2,3]{1,0}", ("bf16", (2, 3), "1,0", 6, 12)),
        ("pred[5]", ("pred", (5,), "", 5, 5)),
        ("s4[10]", ("s4", (10,), "", 10, 10)),
        ("s4[11]{0:E(4)}", ("s4", (11,), "0:E(4)", 11, 6)),
        ("c128[2]", ("c128", (2,), "", 2, 32)),
        ("f8e4m3fn[8]{0}", ("f8e4m3fn", (8,), "0", 8, 8)),
        ("f32[<=8,2]{1,0}", ("f32", (8, 2), "1,0", 16, 64)),
        ("f32[?,2]", ("f32", (None, 2), "", None, None)),
        ("f32[ 2, 3 ]", ("f32", (2, 3), "", 6, 24)),
        ("f32[0,3]", ("f32", (0, 3), "", 0, 0)),
        ("token[]", ("token", (), "", 0, 0)),
        ("opaque[]", ("opaque", (), "", 1, None)),
        ("f32[4]sparse{5}", ("f32", (4,), "5", 4, 16)),
        ("f32[2]{0:P(f32[2]{0})}", ("f32", (2,), "0:P(f32[2]{0})", 2, 8)),
        ("u32[]{:T(128)S(6)}", ("u32", (), ":T(128)S(6)", 1, 4)),
        ("f99[2]", ("f99", (2,), "", 2, None)),
        ("unknown[]", ("unknown", (), "", None, None)),
    ],
)
def test_arrays(text: str, expected: tuple[object, ...]) -> None:
    """Element type, dimensions, layout, elements, bytes."""
    shape = parse_shape(text)
    assert shape.text == text
    assert expected == (
        shape.element_type,
        shape.dimensions,
        shape.layout,
        shape.element_count,
        shape.byte_size,
    )


def test_tuples() -> None:
    shape = parse_shape(
        "((f32[2]{0}, s32[]), u8[3], token[], f32[1], f32[1], /*index=5*/b(f32[4]))"
    )
    assert shape.element_type == "tuple"
    assert [element.text for element in shape.elements] == [
        "(f32[2]{0}, s32[])",
        "u8[3]",
        "token[]",
        "f32[1]",
        "f32[1]",
        "b(f32[4])",
    ]
    assert shape.elements[5].element_type == "buffer"
    assert shape.byte_size == 8 + 4 + 3 + 0 + 4 + 4 + 16
    assert shape.element_count == 2 + 1 + 3 + 0 + 1 + 1 + 4


def test_an_empty_tuple_takes_nothing() -> None:
    shape = parse_shape("()")
    assert (shape.elements, shape.byte_size, shape.element_count) == ((), 0, 0)


def test_a_tuple_with_an_unknown_member_has_no_size() -> None:
    assert parse_shape("(f32[2], f32[?])").byte_size is None


def test_equal_texts_are_one_object() -> None:
    shape = parse_shape("(f32[7,7]{1,0}, f32[7,7]{1,0})")
    assert parse_shape("(f32[7,7]{1,0}, " + "f32[7,7]{1,0})") is shape
    assert shape.elements[0] is shape.elements[1]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", 0),
        ("add", 0),
        ("f32[2", 0),
        ("f32[2]{0", 6),
        ("f32[2] x", 6),
        ("f32[a]", 4),
        ("f32[2,-1]", 6),
        ("(f32[2], ", 9),
        ("(f32[2]))", 8),
        ("f32[1" + "0" * 30 + "]", 4),
        ("(" * (MAX_DEPTH + 1), MAX_DEPTH),
    ],
)
def test_what_is_no_shape(text: str, place: int) -> None:
    with pytest.raises(ShapeError) as error:
        parse_shape(text)
    assert error.value.place == place


def test_tuples_as_deep_as_allowed() -> None:
    shape = parse_shape("(" * MAX_DEPTH + "f32[2]" + ")" * MAX_DEPTH)
    assert shape.byte_size == 8


def test_element_types() -> None:
    assert (ELEMENT_TYPES["f32"].number, ELEMENT_TYPES["f32"].bits) == (11, 32)
    assert ELEMENT_TYPES["opaque"].bits is None
    numbers = [element_kind.number for element_kind in ELEMENT_TYPES.values()]
    assert len(numbers) == len(set(numbers))


def test_bits_and_members() -> None:
    assert [bits_of(name) for name in ("bf16", "opaque", "f7")] == [16, None, None]
    pair, array = parse_shape("(f32[2], s8[])"), parse_shape("f32[2]")
    assert pair.members == pair.elements
    assert array.members == (array,) == (pair.first,)


def test_floats() -> None:
    assert ELEMENT_TYPES["bf16"].is_float
    assert ELEMENT_TYPES["c64"].is_float
    assert not ELEMENT_TYPES["s32"].is_float
    assert not ELEMENT_TYPES["buffer"].is_float


def test_layouts_and_comments_are_no_part_of_a_shape() -> None:
    assert without_layout("f32[8,4]{1,0:T(8,128)(2,1)S(1)}") == "f32[8,4]"
    assert without_layout("(f32[]{:T(128)}, /*index=5*/s32[2]{0})") == "(f32[], s32[2])"


def test_a_plain_shape_has_types_and_sizes() -> None:
    shape = parse_shape("(f32[64,?]{1,0:T(8,128)}, (), s32[<=8])")
    assert shape.plain == "(f32[64,?], (), s32[8])"
