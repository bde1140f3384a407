"""Shapes of protos have the text that XLA prints."""

from typing import Any

import pytest

from xlareport.hlo.protos.schema import message_class
from xlareport.hlo.protos.shapes import shape_text

F32, S32, PRED, TUPLE, C64, BF16, U8, TOKEN, BUFFER = 11, 4, 1, 13, 15, 16, 6, 17, 34


def shape(kind: int, *sizes: int, **more: Any) -> dict[str, Any]:
    return {"element_type": kind, "dimensions": sizes, **more}


BUFFER_SHAPE = shape(BUFFER, tuple_shapes=[shape(F32, 4)])


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (shape(F32, 2, 3, layout={"minor_to_major": [1, 0]}), "f32[2,3]{1,0}"),
        (shape(S32), "s32[]"),
        (shape(F32, 8, 2, is_dynamic_dimension=[True, False]), "f32[<=8,2]"),
        (shape(F32, -(1 << 63)), "f32[?]"),
        (shape(TOKEN), "token[]"),
        (shape(99), "type99[]"),
        (
            shape(
                BF16,
                8,
                128,
                layout={
                    "minor_to_major": [1, 0],
                    "tiles": [{"dimensions": [8, 128]}, {"dimensions": [2, 1]}],
                    "memory_space": 1,
                    "element_size_in_bits": 16,
                    "tail_padding_alignment_in_elements": 1,
                    "split_configs": [{"dimension": 0, "split_indices": [4]}],
                },
            ),
            "bf16[8,128]{1,0:T(8,128)(2,1)E(16)S(1)SC(0:4)}",
        ),
        (shape(S32, layout={"tiles": [{"dimensions": [128]}]}), "s32[]{:T(128)}"),
        (
            shape(TUPLE, tuple_shapes=[*[shape(S32)] * 5, BUFFER_SHAPE]),
            "(s32[], s32[], s32[], s32[], s32[], /*index=5*/b(f32[4]))",
        ),
    ],
)
def test_shapes(fields: dict[str, Any], text: str) -> None:
    assert shape_text(message_class("ShapeProto")(**fields)) == text
