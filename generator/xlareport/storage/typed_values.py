"""Values of dataclasses as JSON, and back: what is read has the types that the classes state.

A dataclass is the list of its fields, bytes are hexadecimal. A path names a file of one machine, so
it is not kept: an empty one comes back.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

_LARGEST = 1 << 63
Decoder = Callable[[Any], Any]


def list_values(value: Any) -> Any:
    """Return a value of dataclasses as what JSON can hold."""
    match value:
        case Enum():
            listed: Any = value.value
        case bytes():
            listed = value.hex()
        case frozenset():
            listed = sorted(value)
        case tuple() | list():
            listed = [list_values(each) for each in value]
        case Mapping():
            listed = {key: list_values(each) for key, each in value.items()}
        case Path():
            listed = ""
        case _ if is_dataclass(value):
            listed = [list_values(getattr(value, each.name)) for each in fields(value)]
        case _:
            listed = value
    return listed


def read_values(kind: Any, value: Any) -> Any:
    """Return the value of a type that `list_values` listed; raises ValueError or TypeError."""
    return _decoder(kind)(value)


def fingerprint_type(kind: Any) -> str:
    """Return a digest of a type with all types below: another where one of their fields differs."""
    seen: dict[str, list[Any]] = {}
    _describe(kind, seen)
    return hashlib.blake2b(json.dumps(seen).encode(), digest_size=8).hexdigest()


def _describe(kind: Any, seen: dict[str, list[Any]]) -> None:
    for each in get_args(kind):
        _describe(each, seen)
    if isinstance(kind, type) and is_dataclass(kind) and kind.__qualname__ not in seen:
        hints = get_type_hints(kind)
        seen[kind.__qualname__] = [[each.name, str(hints[each.name])] for each in fields(kind)]
        for each in fields(kind):
            _describe(hints[each.name], seen)


@cache
def _decoder(kind: Any) -> Decoder:
    """Return what makes a value of a type, and raises ValueError or TypeError where it cannot."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is not None:
        return _generic(origin, inner)
    if is_dataclass(kind):
        return _record(kind)
    return kind if issubclass(kind, Enum) else _PLAIN[kind]


def _generic(origin: Any, inner: tuple[Any, ...]) -> Decoder:
    if origin is Literal:
        return lambda value: _one_of(inner, value)
    if origin is tuple:
        return _tuple(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(inner)
    decode = _decoder(inner[0])
    if origin is frozenset:
        return lambda value: frozenset(map(decode, _listed(value)))
    return lambda value: None if value is None else decode(value)  # a type, or None


def _record(kind: Any) -> Decoder:
    hints = get_type_hints(kind)
    decoders = [_decoder(hints[each.name]) for each in fields(kind)]

    def decode(value: Any) -> Any:
        listed = _listed(value)
        return kind(*(read(each) for read, each in zip(decoders, listed, strict=True)))

    return decode


def _tuple(inner: tuple[Any, ...]) -> Decoder:
    decoders = [_decoder(each) for each in inner if each is not ...]
    if ... in inner:
        return lambda value: tuple(map(decoders[0], _listed(value)))
    return lambda value: tuple(
        read(each) for read, each in zip(decoders, _listed(value), strict=True)
    )


def _mapping(inner: tuple[Any, ...]) -> Decoder:
    keys, values = map(_decoder, inner)

    def decode(value: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError("this is no mapping")
        return {keys(key): values(each) for key, each in value.items()}

    return decode


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("this is no list")
    return value


def _one_of(values: tuple[Any, ...], value: Any) -> Any:
    if value not in values:
        raise ValueError("this is none of the values")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("this is no text")
    value.encode()  # a lone surrogate fits into no file
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= _LARGEST:
        raise TypeError("this is no whole number")
    return value


def _number(value: Any) -> float:
    if isinstance(value, int):
        return _whole(value)
    if not isinstance(value, float) or not math.isfinite(value):
        raise TypeError("this is no number")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("this is neither true nor false")
    return value


_PLAIN: Mapping[Any, Decoder] = {
    str: _text,
    int: _whole,
    float: _number,
    bool: _flag,
    bytes: lambda value: bytes.fromhex(_text(value)),
    Path: lambda _: Path(),
}
