"""Windows, padding and dimension numbers have the text that XLA prints."""

from typing import Any

import pytest

from xlareport.hlo.protos.dimensions import (
    convolution_text,
    padding_text,
    slice_text,
    window_text,
)
from xlareport.hlo.protos.schema import message_class

SIDE: dict[str, Any] = {"size": 3, "stride": 1, "base_dilation": 1, "window_dilation": 1}


@pytest.mark.parametrize(
    ("sides", "text"),
    [
        ([], ""),
        ([SIDE, SIDE], "{size=3x3}"),
        ([SIDE, SIDE | {"stride": 2}], "{size=3x3 stride=1x2}"),
        ([SIDE | {"padding_low": -1, "padding_high": 2}], "{size=3 pad=-1_2}"),
        (
            [SIDE | {"base_dilation": 2, "window_dilation": 4, "window_reversal": True}],
            "{size=3 lhs_dilate=2 rhs_dilate=4 rhs_reversal=1}",
        ),
    ],
)
def test_a_window_leaves_out_what_is_usual(sides: list[dict[str, Any]], text: str) -> None:
    assert window_text(message_class("Window")(dimensions=sides)) == text


def test_padding_inside_is_written_for_all_dimensions_or_none() -> None:
    outer = {"edge_padding_low": 0, "edge_padding_high": 1}
    config = message_class("PaddingConfig")
    assert padding_text(config(dimensions=[outer, outer])) == "0_1x0_1"
    inner = outer | {"interior_padding": 3}
    assert padding_text(config(dimensions=[outer, inner])) == "0_1_0x0_1_3"


def test_the_letters_of_a_convolution_stand_at_their_dimensions() -> None:
    numbers = message_class("ConvolutionDimensionNumbers")(
        input_batch_dimension=0,
        input_feature_dimension=3,
        input_spatial_dimensions=[1, 2],
        kernel_input_feature_dimension=2,
        kernel_output_feature_dimension=3,
        kernel_spatial_dimensions=[0, 1],
        output_batch_dimension=1,
        output_feature_dimension=0,
        output_spatial_dimensions=[2, 3],
    )
    assert convolution_text(numbers) == "b01f_01io->fb01"


def test_a_slice_names_strides_other_than_one() -> None:
    sides = message_class("HloInstructionProto")(
        slice_dimensions=[{"limit": 16, "stride": 1}, {"start": 1, "limit": 512, "stride": 2}]
    )
    assert slice_text(sides.slice_dimensions) == "{[0:16], [1:512:2]}"
