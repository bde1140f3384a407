"""Numbers as XLA prints them: the fewest digits that mean the same value, small types too."""

import re
import struct
from collections.abc import Iterator
from math import ceil, floor, frexp, inf, isfinite, ldexp, log10, nan

_EIGHT_BITS = re.compile(r"f8e(\d)m(\d)(b11)?(fn|fnuz|fnu)?")


def float_text(value: float, precision: int) -> str:
    """Print a number of a type with `precision` bits in its mantissa, the hidden one counted.

    XLA tries the digits that the type always keeps and, where they are too few, the digits that
    always tell its values apart.
    """
    if not isfinite(value):
        return f"{value:g}"
    kept = max(1, floor((precision - 1) * log10(2)))
    short = f"{value:.{kept}g}"
    if _same(float(short), value, precision):
        return short
    return f"{value:.{ceil(1 + precision * log10(2))}g}"


def _same(printed: float, value: float, precision: int) -> bool:
    """Tell whether a type with this precision rounds both numbers to one."""
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
