"""Values of records as JSON, and back, checked against the declared types.

A struct or named tuple is the list of its fields, bytes are hexadecimal. A path names a file of
one machine, so it is not stored: an empty path is returned.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import astuple

_LARGEST_INTEGER = 1 << 63


class Substitute(Struct, frozen=True):
    """A replacement for values of a type that writer and reader share."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


Known = Mapping[type, Substitute]
_Writer = Callable[[Any, Known], Any]
_Decoder = Callable[[Any, Known], Any]


def list_values(value: Any, known: Known = MappingProxyType({})) -> Any:
    """Return records as JSON values; `known` maps types to their replacement."""
    return _lister(frozenset(known)).listed(value, known)


class _Lister:
    """Lists values by their classes, each of which is looked at once."""

    def __init__(self, known: Iterable[type]) -> None:
        """Take the types that have a substitute whenever values are listed."""
        self._writers: dict[type, _Writer | None] = dict.fromkeys(_AS_THEY_ARE)
        self._writers |= {kind: _substituted(kind) for kind in known}

    def listed(self, value: Any, known: Known) -> Any:
        kind = value.__class__
        if kind not in self._writers:
            self._writers[kind] = self._writer(kind)
        write = self._writers[kind]
        return value if write is None else write(value, known)

    def _writer(self, kind: type) -> _Writer | None:
        if issubclass(kind, Struct):
            return lambda value, known: self._each(astuple(value), known)
        return next((write for base, write in self._plain() if issubclass(kind, base)), None)

    def _plain(self) -> Iterator[tuple[type, _Writer]]:
        yield Enum, lambda value, _: value.value
        yield bytes, lambda value, _: value.hex()
        yield frozenset, lambda value, _: sorted(value)
        yield tuple, self._each
        yield list, self._each
        yield Mapping, self._mapping
        yield Path, lambda _, __: ""

    def _each(self, values: Iterable[Any], known: Known) -> list[Any]:
        return [
            value if value.__class__ in _AS_THEY_ARE else self.listed(value, known)
            for value in values
        ]

    def _mapping(self, value: Mapping[Any, Any], known: Known) -> Any:
        if all(key.__class__ is str for key in value):
            return {key: self.listed(item, known) for key, item in value.items()}
        return [self._each(pair, known) for pair in value.items()]


def _substituted(kind: type) -> _Writer:
    return lambda value, known: known[kind].write(value)


_lister = cache(_Lister)
_AS_THEY_ARE: frozenset[type] = frozenset({str, int, float, bool, type(None)})


def read_values(kind: Any, value: Any, known: Known = MappingProxyType({})) -> Any:
    """Return the value of a type that `list_values` listed; raises ValueError or TypeError."""
    return _decoders(frozenset(known)).decoder(kind)(value, known)


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

    def __init__(self, known: Iterable[type]) -> None:
        """Take the types that have a substitute whenever values are read."""
        self._decoders: dict[Any, _Decoder] = dict(_PLAIN)
        self._decoders |= {kind: _read_substituted(kind) for kind in known}

    def decoder(self, kind: Any) -> _Decoder:
        """Return the decoder of a type."""
        if kind not in self._decoders:
            self._decoders[kind] = self._decoder(kind)
        return self._decoders[kind]

    def _decoder(self, kind: Any) -> _Decoder:
        origin, inner = get_origin(kind), get_args(kind)
        if origin is not None:
            return self._generic(origin, inner)
        names = _field_names(kind)
        if names is not None:
            return self._record(kind, names)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return lambda value, _: kind(value)
        raise TypeError(f"values of {kind} are not kept")

    def _generic(self, origin: Any, inner: tuple[Any, ...]) -> _Decoder:
        if origin is Literal:
            return lambda value, _: _one_of(inner, value)
        if origin is tuple:
            return self._tuple(inner)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(inner)
        decode = self.decoder(inner[0])
        if origin is frozenset:
            return lambda value, known: frozenset(_each(decode, value, known))
        # a type, or None
        return lambda value, known: None if value is None else decode(value, known)

    def _record(self, kind: Any, names: tuple[str, ...]) -> _Decoder:
        hints = _field_types(kind)
        decode = self._tuple(tuple(hints[name] for name in names))
        return lambda value, known: kind(*decode(value, known))

    def _tuple(self, inner: tuple[Any, ...]) -> _Decoder:
        decoders = [self.decoder(kind) for kind in inner if kind is not ...]
        if ... in inner:
            return lambda value, known: tuple(_each(decoders[0], value, known))
        return lambda value, known: tuple(
            [read(element, known) for read, element in zip(decoders, _listed(value), strict=True)]
        )

    def _mapping(self, inner: tuple[Any, ...]) -> _Decoder:
        keys, values = map(self.decoder, inner)
        pair = self._tuple(inner)

        def decode(value: Any, known: Known) -> Any:
            if isinstance(value, dict):
                return {keys(key, known): values(item, known) for key, item in value.items()}
            if keys is _decode_str:
                raise TypeError("this is no mapping")
            return dict(_each(pair, value, known))

        return decode


def _read_substituted(kind: type) -> _Decoder:
    return lambda value, known: known[kind].read(value)


_decoders = cache(_Decoders)


def _each(decode: _Decoder, value: Any, known: Known) -> list[Any]:
    return [decode(element, known) for element in _listed(value)]


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("this is no list")
    return value


def _one_of(values: tuple[Any, ...], value: Any) -> Any:
    if value not in values:
        raise ValueError("this is none of the values")
    return value


def _decode_str(value: Any, _: Known) -> str:
    if not isinstance(value, str):
        raise TypeError("this is no text")
    if not value.isascii():
        value.encode()  # a lone surrogate fits into no file
    return value


def _decode_int(value: Any, _: Known) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= _LARGEST_INTEGER:
        raise TypeError("this is no whole number")
    return value


def _decode_float(value: Any, known: Known) -> float:
    if isinstance(value, int):
        return _decode_int(value, known)
    if not isinstance(value, float) or not math.isfinite(value):
        raise TypeError("this is no number")
    return value


def _flag(value: Any, _: Known) -> bool:
    if not isinstance(value, bool):
        raise TypeError("this is neither true nor false")
    return value


_PLAIN: Mapping[Any, _Decoder] = {
    str: _decode_str,
    int: _decode_int,
    float: _decode_float,
    bool: _flag,
    bytes: lambda value, known: bytes.fromhex(_decode_str(value, known)),
    Path: lambda _, __: Path(),
}
