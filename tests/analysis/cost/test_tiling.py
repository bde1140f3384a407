"""Bytes of arrays in tiled layouts."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.tiling import (
    allocated_size,
    main_memory_part,
    main_memory_size,
    minor_to_major,
    padded_size,
    rounded_dimensions,
    sum_padding,
)
from xlareport.hlo.shape import parse_shape


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("f32[10,256]{1,0}", 10 * 256 * 4),
        ("f32[10,256]{1,0:T(8,128)}", 16 * 256 * 4),
        ("f32[10,200]{1,0:T(8,128)}", 16 * 256 * 4),
        ("f32[10,200]{0,1:T(8,128)}", 128 * 200 * 4),  # the minor dimension is the first one
        ("f32[3]{0:T(128)}", 128 * 4),
        ("f32[3]{0:T(8,128)}", 8 * 128 * 4),  # a tile of more dimensions adds one
        ("bf16[8,128]{1,0:T(8,128)(2,1)}", 8 * 128 * 2),
        ("pred[3]{0:L(512)}", 512),
        ("f32[0,256]{1,0:T(8,128)}", 0),
    ],
)
def test_only_the_outer_tile_pads(text: str, size: int) -> None:
    assert padded_size(parse_shape(text)) == size


def test_dimensions_that_a_tile_rounds_up_are_told() -> None:
    image = parse_shape("bf16[64,224,224,3]{0,3,2,1:T(4,128)(2,1)}")
    assert rounded_dimensions(image) == [(0, 64, 128), (3, 3, 4)]
    assert rounded_dimensions(parse_shape("f32[8,200]{1,0:T(8,128)}")) == [(1, 200, 256)]
    assert rounded_dimensions(parse_shape("f32[3]{0}")) == []


def test_a_tuple_is_allocated_array_by_array() -> None:
    shape = parse_shape("(f32[10,256]{1,0:T(8,128)}, f32[2])")
    assert allocated_size(shape) == 16 * 256 * 4 + 8
    assert allocated_size(parse_shape("(f32[?], f32[2])")) is None


def test_other_memory_spaces_are_not_the_device_memory() -> None:
    chip, own = "f32[8,128]{1,0:T(8,128)S(1)}", "f32[8,128]{1,0:T(8,128)S(0)}"
    both = parse_shape(f"({chip}, {own})")
    assert main_memory_size(both) == 8 * 128 * 4
    part = parse_shape("f32[1,128]{1,0:T(8,128)}")
    assert main_memory_part(part, parse_shape(chip)) == 0
    assert main_memory_part(part, parse_shape(own)) == 8 * 128 * 4


def test_without_a_layout_the_last_dimension_is_minor() -> None:
    assert minor_to_major(parse_shape("f32[2,3,4]")) == [2, 1, 0]
    assert minor_to_major(parse_shape("f32[2,3,4]{0,2,1:T(8,128)}")) == [0, 2, 1]


def test_padding_of_arguments() -> None:
    module = parse_module(
        "HloModule m\n\nENTRY e {\n"
        "  p = f32[10,256]{1,0:T(8,128)} parameter(0)\n"
        "  ROOT q = f32[4]{0} parameter(1)\n}\n"
    )
    assert sum_padding(module) == 6 * 256 * 4
