"""Literals of protos as text: `{1, 2}`, `{...}` where they are long, as XLA prints constants."""

import re
from collections.abc import Sequence
from math import prod
from typing import Any

from xlareport.hlo.element_types import ELEMENT_TYPES
from xlareport.hlo.protos.floats import float_text, unpack
from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.words import flag

MOST = 10
"""XLA prints literals with more elements as `{...}`."""

_DEEPEST = 100
"""Dimensions of a constant that is written out: brackets in brackets."""
_NAMES = {element_type.number: name for name, element_type in ELEMENT_TYPES.items()}
_PACKED = {"u8": "B", "s8": "b", "u16": "H", "s16": "h"}
_MANTISSA = {"f64": 53, "c128": 53, "f32": 24, "c64": 24, "f16": 11, "bf16": 8}
"""Bits, the one that is not stored counted."""
_EIGHT_BITS = re.compile(r"f8e\dm(\d)\w*")


def literal_text(literal: Message) -> str:
    """Return what stands between the parentheses of a constant; `{...}` where it is not known."""
    name = _NAMES.get(literal.shape.element_type, "")
    if name == "tuple":
        return f"( {', '.join(map(literal_text, literal.tuple_literals))} )"
    sizes = list(literal.shape.dimensions)
    count = prod(sizes[:_DEEPEST])
    if count > MOST or len(sizes) > _DEEPEST:
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
        return [float_text(number, int(small[1]) + 1) for number in unpack(name, values)]
    if name in {"f16", "bf16"}:
        values = unpack("e" if name == "f16" else name, values)
    return [float_text(value, _MANTISSA[name]) for value in values] if name in _MANTISSA else []
