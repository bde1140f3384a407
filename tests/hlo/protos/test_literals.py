import math
import struct
from typing import Any

import pytest

from xlareport.hlo.protos.literals import float_text, literal_text, unpack
from xlareport.hlo.protos.schema import message_class


def single(value: float) -> float:
    (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    return float(rounded)


@pytest.mark.parametrize(
    ("value", "precision", "text"),
    [
        (single(0.1), 24, "0.1"),
        (single(-0.99999994), 24, "-0.99999994"),
        (single(1.41421354), 24, "1.41421354"),
        (single(1e-07), 24, "1e-07"),
        (256.0, 24, "256"),
        (0.0, 24, "0"),
        (-0.0, 24, "-0"),
        (math.inf, 24, "inf"),
        (-math.inf, 8, "-inf"),
        (math.nan, 11, "nan"),
        (0.796875, 8, "0.7969"),
        (3.0, 8, "3"),
        (0.1, 53, "0.1"),
        (1 / 3, 53, "0.33333333333333331"),
    ],
)
def test_as_xla_prints_them(value: float, precision: int, text: str) -> None:
    assert float_text(value, precision) == text


@pytest.mark.parametrize(
    ("kind", "raw", "values"),
    [
        ("B", b"\x01\xff", [1, 255]),
        ("h", b"\xff\xff\x01\x00", [-1, 1]),
        ("h", b"\xff\xff\x01", [-1]),
        ("e", b"\x00\x3c", [1.0]),
        ("bf16", b"\x80\x3f\x80\xff", [1.0, -math.inf]),
        ("f8e5m2", b"\x3c\x7c\x01", [1.0, math.inf, 2.0**-16]),
        ("f8e4m3fn", b"\x38\x7e\xb8", [1.0, 448.0, -1.0]),
        ("f8e4m3fnuz", b"\x40\x7f", [1.0, 240.0]),
        ("f8e4m3b11fnuz", b"\x58", [1.0]),
        ("f8e8m0fnu", b"\x7f\x80", [1.0, 2.0]),
        ("f8", b"\x00", []),
    ],
)
def test_unpack(kind: str, raw: bytes, values: list[float]) -> None:
    assert unpack(kind, raw) == values


@pytest.mark.parametrize(
    ("kind", "raw"),
    [("f8e4m3fn", b"\x7f"), ("f8e4m3fnuz", b"\x80"), ("f8e8m0fnu", b"\xff"), ("f8e5m2", b"\x7d")],
)
def test_what_is_no_number(kind: str, raw: bytes) -> None:
    assert math.isnan(unpack(kind, raw)[0])


F32, S32, PRED, TUPLE, C64, BF16, U8, TOKEN, BUFFER = 11, 4, 1, 13, 15, 16, 6, 17, 34


def shape(kind: int, *sizes: int, **more: Any) -> dict[str, Any]:
    return {"element_type": kind, "dimensions": sizes, **more}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"shape": shape(F32), "f32s": [0.5]}, "0.5"),
        ({"shape": shape(F32, 2, 2), "f32s": [1, 2, 3, 4]}, "{ {1, 2}, {3, 4} }"),
        ({"shape": shape(S32, 0), "s32s": []}, "{}"),
        ({"shape": shape(S32, 0, 3), "s32s": []}, "{  }"),
        ({"shape": shape(PRED), "preds": [True]}, "true"),
        ({"shape": shape(PRED, 2), "preds": [True, False]}, "{1, 0}"),
        ({"shape": shape(C64), "c64s": [0, 1]}, "(0, 1)"),
        ({"shape": shape(U8, 2), "u8s": b"\x01\xff"}, "{1, 255}"),
        ({"shape": shape(BF16), "bf16s": b"\x80\x3f"}, "1"),
        ({"shape": shape(S32, 11), "s32s": range(11)}, "{...}"),
        ({"shape": shape(S32, 3), "s32s": [1]}, "{...}"),
        ({"shape": shape(21, 2)}, "{...}"),
        ({"shape": shape(S32, 10**12)}, "{...}"),
        (
            {
                "shape": shape(TUPLE),
                "tuple_literals": [{"shape": shape(S32), "s32s": [1]}, {"shape": shape(99)}],
            },
            "( 1, {...} )",
        ),
    ],
)
def test_literals(fields: dict[str, Any], text: str) -> None:
    assert literal_text(message_class("LiteralProto")(**fields)) == text
