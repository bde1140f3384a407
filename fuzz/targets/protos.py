"""Changes protos field by field: few changed bytes in a row are a proto at all."""

import importlib
import random
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError, EncodeError

_NUMBERS = (0, 1, -1, 2, 7, 255, 1 << 15, (1 << 31) - 1, -(1 << 31), (1 << 63) - 1, -(1 << 63))
_BYTES = (b"", b"a", b"\xff", b"%a", b"while", b"{", b'"', b"\n", b"9" * 5000)
_BYTES_TYPES = (9, 12)
_MESSAGE_TYPE = 11


def mutated(message: Any, data: bytes, size: int, seed: int) -> bytes:
    """Return the data with a few fields changed; half of the time, or without fields, raw bytes."""
    luck = random.Random(seed)  # noqa: S311 - the same seed has to give the same data
    try:
        message.ParseFromString(data)
        parts = list(_parts(message))
        if luck.random() < 0.5:
            for _each in range(luck.choice((1, 1, 2, 5))):
                _change(luck.choice(parts), luck)
            written: bytes = message.SerializeToString()
            return written[:size]
    except (DecodeError, EncodeError):
        pass
    # here, because tests check what was found without it
    return bytes(importlib.import_module("atheris").Mutate(data, size))


def _parts(message: Any) -> Iterator[Any]:
    """Yield a message and those in it."""
    yield message
    for field, value in message.ListFields():
        if field.type == _MESSAGE_TYPE:
            for one in value if field.is_repeated else (value,):
                yield from _parts(one)


def _change(message: Any, luck: random.Random) -> None:
    """Set, repeat or clear one field of a message."""
    field = luck.choice(message.DESCRIPTOR.fields)
    held = getattr(message, field.name)
    if luck.random() < 0.2:
        message.ClearField(field.name)
    elif field.type == _MESSAGE_TYPE:
        _change_message(held, luck, is_repeated=field.is_repeated)
    elif field.is_repeated:
        held.extend([_value(field, luck)] * luck.choice((1, 1, 3)))
    else:
        setattr(message, field.name, _value(field, luck))


def _change_message(held: Any, luck: random.Random, *, is_repeated: bool) -> None:
    if not is_repeated:
        held.SetInParent()
    elif held and luck.random() < 0.7:
        held.add().CopyFrom(luck.choice(held))
    else:
        held.add()


def _value(field: Any, luck: random.Random) -> Any:
    if field.type in _BYTES_TYPES:
        value = luck.choice(_BYTES)
        return value if field.type == _BYTES_TYPES[1] else value.decode("latin-1")
    if field.cpp_type in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
        return luck.choice((0.0, -1.0, float("nan"), float("inf"), 1e300))
    if field.cpp_type == field.CPPTYPE_BOOL:
        return luck.random() < 0.5
    return _fitting(field, luck.choice(_NUMBERS))


def _fitting(field: Any, number: int) -> int:
    """Return the number cut to what the field can hold."""
    wide = field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64)
    if field.cpp_type in (field.CPPTYPE_UINT32, field.CPPTYPE_UINT64):
        return number & ((1 << (64 if wide else 32)) - 1)
    return number if wide else max(-(1 << 31), min(number, (1 << 31) - 1))
