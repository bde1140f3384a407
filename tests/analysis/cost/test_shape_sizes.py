"""Elements and bytes of shapes."""

import pytest

from xlareport.analysis.cost.shape_sizes import (
    UncountableError,
    count_elements,
    iterate_leaves,
    measure_data,
)
from xlareport.hlo.shape import parse_shape


def test_the_arrays_of_a_tuple_count_together() -> None:
    shape = parse_shape("(f32[2,3], (bf16[4], token[]), pred[])")
    assert [leave.text for leave in iterate_leaves(shape)] == ["f32[2,3]", "bf16[4]", "pred[]"]
    assert count_elements(shape) == 6 + 4 + 1
    assert measure_data(shape) == 24 + 8 + 1


def test_types_of_less_than_a_byte_share_bytes_only_where_the_layout_packs_them() -> None:
    assert measure_data(parse_shape("s4[3]")) == 3
    assert measure_data(parse_shape("s4[3]{0:E(4)}")) == 2


@pytest.mark.parametrize("count", [count_elements, measure_data])
def test_an_unbounded_array_cannot_be_counted(count: object) -> None:
    assert callable(count)
    with pytest.raises(UncountableError, match=r"f32\[\?,2\]"):
        count(parse_shape("(f32[3], f32[?,2])"))
