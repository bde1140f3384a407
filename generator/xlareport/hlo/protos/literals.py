"""Literals of protos as text: `{1, 2}`, `{...}` where they are long, as XLA prints constants."""

import re
import struct
from collections.abc import Iterator, Sequence
from math import ceil, floor, frexp, inf, isfinite, ldexp, log10, nan, prod
from typing import Any

from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.text_pieces import flag
from xlareport.hlo.shape import TYPE_NAMES

_EIGHT_BITS = re.compile(r"f8e(\d)m(\d)(b11)?(fn|fnuz|fnu)?")


def float_text(value: float, precision: int) -> str:
    """Return a number of a type with `precision` mantissa bits, including the hidden one.

    XLA tries the digits that the type always preserves and, if they are not enough, the digits that
    always distinguish its values.
    """
    if not isfinite(value):
        return f"{value:g}"
    kept = max(1, floor((precision - 1) * log10(2)))
    short = f"{value:.{kept}g}"
    if _same(float(short), value, precision):
        return short
    return f"{value:.{ceil(1 + precision * log10(2))}g}"


def _same(printed: float, value: float, precision: int) -> bool:
    """Return whether a type with this precision rounds both numbers to one."""
    step = ldexp(1.0, frexp(value)[1] - precision)
    return printed == value or (precision < 53 and abs(printed - value) < step / 2)


def unpack(kind: str, raw: bytes) -> list[float]:
    """Unpack little-endian numbers: a format of `struct`, `bf16` or one of the 8-bit types."""
    if kind == "bf16":
        halves = unpack("H", raw)
        return [struct.unpack("<f", struct.pack("<I", int(half) << 16))[0] for half in halves]
    if kind.startswith("f8"):
        return list(_eight_bits(kind, raw))
    size = struct.calcsize(kind)
    whole = raw[: len(raw) // size * size]
    return [item for (item,) in struct.iter_unpack(f"<{kind}", whole)]


def _eight_bits(kind: str, raw: bytes) -> Iterator[float]:
    match = _EIGHT_BITS.fullmatch(kind)
    if match:
        exponent_bits, mantissa_bits = int(match[1]), int(match[2])
        special = match[4] or ""
        bias = 11 if match[3] else (1 << (exponent_bits - 1)) - (special != "fnuz")
        for byte in raw:
            yield _one_byte(byte, exponent_bits, mantissa_bits, bias, special)


def _one_byte(byte: int, exponent_bits: int, mantissa_bits: int, bias: int, special: str) -> float:
    if special == "fnu":
        return nan if byte == 0xFF else ldexp(1.0, byte - bias)
    sign = -1.0 if byte & 0x80 else 1.0
    exponent = (byte & 0x7F) >> mantissa_bits
    mantissa = byte & ((1 << mantissa_bits) - 1)
    if (special == "fnuz" and byte == 0x80) or (special == "fn" and byte & 0x7F == 0x7F):
        return nan
    if not special and exponent == (1 << exponent_bits) - 1:
        return nan if mantissa else sign * inf
    fraction = mantissa + (1 << mantissa_bits) * (exponent > 0)
    return sign * ldexp(fraction, max(exponent, 1) - bias - mantissa_bits)


MOST_ELEMENTS = 10
"""XLA prints literals with more elements as `{...}`."""

_MOST_DIMENSIONS = 100
"""Dimensions of a constant that is written out: brackets in brackets."""
_PACKED = {"u8": "B", "s8": "b", "u16": "H", "s16": "h"}
_MANTISSA = {"f64": 53, "c128": 53, "f32": 24, "c64": 24, "f16": 11, "bf16": 8}
"""Bits, the one that is not stored counted."""


def literal_text(literal: Message) -> str:
    """Return the text in the parentheses of a constant; `{...}` if it is not known."""
    name = TYPE_NAMES.get(literal.shape.element_type, "")
    if name == "tuple":
        return f"( {', '.join(map(literal_text, literal.tuple_literals))} )"
    sizes = list(literal.shape.dimensions)
    count = prod(sizes[:_MOST_DIMENSIONS])
    if count > MOST_ELEMENTS or len(sizes) > _MOST_DIMENSIONS:
        return "{...}"
    words = _words(literal, name, in_array=bool(sizes))
    if len(words) != count:
        return "{...}"
    return _nested(words, sizes) if sizes else words[0]


def _nested(words: Sequence[str], sizes: Sequence[int]) -> str:
    if len(sizes) == 1:
        return "{" + ", ".join(words) + "}"
    step = prod(sizes[1:])
    starts = range(0, len(words), step) if step else range(0)
    return "{ " + ", ".join(_nested(words[n : n + step], sizes[1:]) for n in starts) + " }"


def _words(literal: Message, name: str, *, in_array: bool) -> list[str]:
    if name == "pred":
        return [str(int(pred)) if in_array else flag(pred) for pred in literal.preds]
    if name in _PACKED:
        return [str(number) for number in unpack(_PACKED[name], getattr(literal, f"{name}s"))]
    if name in {"s32", "s64", "u32", "u64"}:
        return [str(item) for item in getattr(literal, f"{name}s")]
    parts = _float_words(literal, name)
    if name in {"c64", "c128"}:
        return [f"({a}, {b})" for a, b in zip(parts[::2], parts[1::2], strict=False)]
    return parts


def _float_words(literal: Message, name: str) -> list[str]:
    values: Any = getattr(literal, f"{name}s", ())
    small = _EIGHT_BITS.fullmatch(name)
    if small:
        return [float_text(number, int(small[2]) + 1) for number in unpack(name, values)]
    if name in {"f16", "bf16"}:
        values = unpack("e" if name == "f16" else name, values)
    return [float_text(value, _MANTISSA[name]) for value in values] if name in _MANTISSA else []
