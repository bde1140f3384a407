"""Values of records as JSON, and back, checked against the declared types.

A struct or named tuple is the list of its fields, bytes are hexadecimal. A path names a file of
one machine, so it is not stored: an empty path is returned.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct

_LARGEST_INTEGER = 1 << 63
Decoder = Callable[[Any], Any]


class Substitute(Struct, frozen=True):
    """A replacement for values of a type that writer and reader share."""

    write: Callable[[Any], Any]
    read: Decoder


def list_values(value: Any, known: Mapping[type, Substitute] = MappingProxyType({})) -> Any:
    """Return records as JSON values; `known` maps types to their replacement."""
    return _Lister(known).listed(value)


class _Lister:
    """Lists values by their classes, each of which is looked at once."""

    def __init__(self, known: Mapping[type, Substitute]) -> None:
        self._writers: dict[type, Callable[[Any], Any] | None] = dict.fromkeys(_AS_THEY_ARE)
        self._writers |= {kind: substitute.write for kind, substitute in known.items()}

    def listed(self, value: Any) -> Any:
        kind = value.__class__
        if kind not in self._writers:
            self._writers[kind] = self._writer(kind)
        write = self._writers[kind]
        return value if write is None else write(value)

    def _writer(self, kind: type) -> Callable[[Any], Any] | None:
        if issubclass(kind, Struct):
            names = kind.__struct_fields__
            return lambda value: [self.listed(getattr(value, name)) for name in names]
        return next((write for base, write in self._plain() if issubclass(kind, base)), None)

    def _plain(self) -> Iterator[tuple[type, Callable[[Any], Any]]]:
        yield Enum, lambda value: value.value
        yield bytes, bytes.hex
        yield frozenset, sorted
        yield tuple, lambda value: [*map(self.listed, value)]
        yield list, lambda value: [*map(self.listed, value)]
        yield Mapping, self._mapping
        yield Path, lambda _: ""

    def _mapping(self, value: Mapping[Any, Any]) -> Any:
        if all(key.__class__ is str for key in value):
            return {key: self.listed(item) for key, item in value.items()}
        return [[self.listed(key), self.listed(item)] for key, item in value.items()]


_AS_THEY_ARE = (str, int, float, bool, type(None))


def read_values(
    kind: Any, value: Any, known: Mapping[type, Substitute] = MappingProxyType({})
) -> Any:
    """Return the value of a type that `list_values` listed; raises ValueError or TypeError."""
    return (_Decoders(known) if known else _STANDARD).decoder(kind)(value)


def fingerprint_type(kind: Any) -> str:
    """Return a digest of a type with all types below: another where one of their fields differs.

    The modules that the types are in do not matter: a type may move.
    """
    seen: dict[str, list[Any]] = {}
    _describe(kind, seen)
    return hashlib.blake2b(json.dumps(seen).encode(), digest_size=8).hexdigest()


def _describe(kind: Any, seen: dict[str, list[Any]]) -> None:
    for arg in get_args(kind):
        _describe(arg, seen)
    names = _field_names(kind)
    if names is not None and kind.__qualname__ not in seen:
        hints = _field_types(kind)
        seen[kind.__qualname__] = [[name, _name_type(hints[name])] for name in names]
        for name in names:
            _describe(hints[name], seen)


def _name_type(hint: Any) -> str:
    """Return a type with its arguments as text, without the names of modules."""
    name = getattr(get_origin(hint) or hint, "__qualname__", None) or repr(hint)
    return f"{name}[{', '.join(map(_name_type, get_args(hint)))}]"


def _field_names(kind: Any) -> tuple[str, ...] | None:
    """Return the fields of a struct or named tuple; None for other types."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind.__struct_fields__
    is_named = isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")
    return kind._fields if is_named else None


@cache
def _field_types(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


class _Decoders:
    """Functions that convert JSON to values by type; ValueError or TypeError if that fails."""

    def __init__(self, known: Mapping[type, Substitute]) -> None:
        self._decoders: dict[Any, Decoder] = dict(_PLAIN)
        self._decoders |= {kind: substitute.read for kind, substitute in known.items()}

    def decoder(self, kind: Any) -> Decoder:
        """Return the decoder of a type."""
        if kind not in self._decoders:
            self._decoders[kind] = self._decoder(kind)
        return self._decoders[kind]

    def _decoder(self, kind: Any) -> Decoder:
        origin, inner = get_origin(kind), get_args(kind)
        if origin is not None:
            return self._generic(origin, inner)
        names = _field_names(kind)
        if names is not None:
            return self._record(kind, names)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return kind
        raise TypeError(f"values of {kind} are not kept")

    def _generic(self, origin: Any, inner: tuple[Any, ...]) -> Decoder:
        if origin is Literal:
            return lambda value: _one_of(inner, value)
        if origin is tuple:
            return self._tuple(inner)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(inner)
        decode = self.decoder(inner[0])
        if origin is frozenset:
            return lambda value: frozenset(map(decode, _listed(value)))
        return lambda value: None if value is None else decode(value)  # a type, or None

    def _record(self, kind: Any, names: tuple[str, ...]) -> Decoder:
        hints = _field_types(kind)
        decoders = [self.decoder(hints[name]) for name in names]

        def decode(value: Any) -> Any:
            listed = _listed(value)
            return kind(*(read(element) for read, element in zip(decoders, listed, strict=True)))

        return decode

    def _tuple(self, inner: tuple[Any, ...]) -> Decoder:
        decoders = [self.decoder(kind) for kind in inner if kind is not ...]
        if ... in inner:
            return lambda value: tuple(map(decoders[0], _listed(value)))
        return lambda value: tuple(
            read(element) for read, element in zip(decoders, _listed(value), strict=True)
        )

    def _mapping(self, inner: tuple[Any, ...]) -> Decoder:
        keys, values = map(self.decoder, inner)
        pair = self._tuple(inner)

        def decode(value: Any) -> Any:
            if isinstance(value, dict):
                return {keys(key): values(item) for key, item in value.items()}
            if keys is _decode_str:
                raise TypeError("this is no mapping")
            return dict(map(pair, _listed(value)))

        return decode


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("this is no list")
    return value


def _one_of(values: tuple[Any, ...], value: Any) -> Any:
    if value not in values:
        raise ValueError("this is none of the values")
    return value


def _decode_str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("this is no text")
    value.encode()  # a lone surrogate fits into no file
    return value


def _decode_int(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= _LARGEST_INTEGER:
        raise TypeError("this is no whole number")
    return value


def _decode_float(value: Any) -> float:
    if isinstance(value, int):
        return _decode_int(value)
    if not isinstance(value, float) or not math.isfinite(value):
        raise TypeError("this is no number")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("this is neither true nor false")
    return value


_PLAIN: Mapping[Any, Decoder] = {
    str: _decode_str,
    int: _decode_int,
    float: _decode_float,
    bool: _flag,
    bytes: lambda value: bytes.fromhex(_decode_str(value)),
    Path: lambda _: Path(),
}

_STANDARD = _Decoders({})
