"""Reads the arguments and results of a recorded run: a HloSnapshot."""

import sys
import zlib
from array import array
from collections.abc import Iterator
from math import prod
from typing import Any

from google.protobuf.message import DecodeError
from msgspec import Struct

from xlareport.hlo.protos.schema import Message, message_class
from xlareport.hlo.protos.text_pieces import text
from xlareport.hlo.shape import TYPE_NAMES, bits_of
from xlareport.runtime.packed import decompress_bytes

_NUMBERED = {
    "s32": "i",
    "s64": "q",
    "u32": "I",
    "u64": "Q",
    "f32": "f",
    "f64": "d",
    "c64": "f",
    "c128": "d",
}
"""Types stored as numbers in the proto, with the type code of `array`."""
_AS_BYTES = frozenset({"u8", "s8", "u16", "s16", "f16", "bf16", "f8e5m2", "f8e4m3fn"})
_MOST_ARRAYS = 100_000
_MOST_NESTED = 50


class RecordError(Exception):
    """A file is no record of a run, or its content is unsupported; the message says why."""


class RecordedArray(Struct, frozen=True):
    """An array of a run."""

    element_type: str
    """By XLA's name."""
    dimensions: tuple[int, ...]
    is_column_major: bool
    data: bytes
    """Little-endian, in the order of the layout."""


class RecordedRun(Struct, frozen=True):
    """The arguments and results of a run."""

    arguments: tuple[RecordedArray, ...]
    """Arrays of tuples one by one."""
    results: tuple[RecordedArray, ...]
    platform: str
    """As the file names it; empty where it does not."""


def read_recorded_run(data: bytes) -> RecordedRun:
    """Read a HloSnapshot; raises RecordError."""
    record = message_class("HloSnapshot")()
    try:
        record.ParseFromString(decompress_bytes(data))
    except (DecodeError, zlib.error) as error:
        raise RecordError(f"it is cut off, or no HloSnapshot ({error})") from error
    if not record.HasField("hlo"):
        raise RecordError("it is no HloSnapshot, or holds no module")
    arguments = [array for literal in record.arguments for array in _arrays(literal, 0)]
    results = list(_arrays(record.result, 0)) if record.HasField("result") else []
    return RecordedRun(tuple(arguments), tuple(results), text(record.execution_platform))


def _arrays(literal: Message, depth: int) -> Iterator[RecordedArray]:
    name = TYPE_NAMES.get(literal.shape.element_type, "")
    if name != "tuple":
        yield _array(literal, name)
        return
    if depth > _MOST_NESTED or len(literal.tuple_literals) > _MOST_ARRAYS:
        raise RecordError("its tuples are too deep or too long")
    for tuple_literal in literal.tuple_literals:
        yield from _arrays(tuple_literal, depth + 1)


def _array(literal: Message, name: str) -> RecordedArray:
    sizes = tuple(literal.shape.dimensions)
    data = _data(literal, name)
    bits = bits_of(name)
    if any(size < 0 for size in sizes) or bits is None or len(data) * 8 != prod(sizes) * bits:
        raise RecordError(f"it does not hold all of a value of type {name or 'unknown'}")
    order = list(literal.shape.layout.minor_to_major)
    places = list(range(len(sizes)))
    if order and order not in (places, places[::-1]):
        raise RecordError(f"the order of the dimensions of a value is {order}")
    is_column_major = len(sizes) > 1 and order == places
    return RecordedArray(name, sizes, is_column_major, data)


def _data(literal: Message, name: str) -> bytes:
    if name == "pred":
        return bytes(literal.preds)
    if name in _AS_BYTES:
        held: bytes = getattr(literal, f"{name}s")
        return held
    if name not in _NUMBERED:
        raise RecordError(f"values of type {name or 'unknown'} are not read")
    values: Any = array(_NUMBERED[name], getattr(literal, f"{name}s"))
    if sys.byteorder == "big":
        values.byteswap()
    return bytes(values.tobytes())
