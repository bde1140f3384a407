"""Reads MessagePack, in which AMD's code objects describe their kernels.

Source: https://github.com/msgpack/msgpack/blob/master/spec.md. Extension types are not read.
"""

import struct
from typing import Any

from msgspec import Struct

_MOST_NESTED = 32
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_TEXTS = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xC4: 1, 0xC5: 2, 0xC6: 4}
"""Bytes of the length of texts and of bytes."""
_LISTS = {0xDC: 2, 0xDD: 4}
_MAPS = {0xDE: 2, 0xDF: 4}


def read_message_pack(data: bytes) -> Any:
    """Return the first value, of dicts, lists, texts and numbers; None where it is cut off."""
    try:
        return _Reader(data).value(0)
    except (struct.error, IndexError, ValueError):
        return None


class _Reader(Struct):
    data: bytes
    at: int = 0

    def value(self, depth: int) -> Any:
        """Read one value; every element takes a byte, so the work is bounded by the data."""
        if depth > _MOST_NESTED:
            raise ValueError
        kind = self.data[self.at]
        self.at += 1
        if kind < 0x80 or kind >= 0xE0:
            return kind if kind < 0x80 else kind - 0x100
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if kind in _NUMBERS:
            return self._number(_NUMBERS[kind])
        if 0xA0 <= kind < 0xC0 or kind in _TEXTS:
            return self._text(kind & 0x1F if kind < 0xC0 else self._length(_TEXTS[kind]))
        if 0x90 <= kind < 0xA0 or kind in _LISTS:
            count = kind & 0x0F if kind < 0xA0 else self._length(_LISTS[kind])
            return [self.value(depth + 1) for _ in range(count)]
        if 0x80 <= kind < 0x90 or kind in _MAPS:
            count = kind & 0x0F if kind < 0x90 else self._length(_MAPS[kind])
            return self._map(count, depth)
        raise ValueError

    def _map(self, count: int, depth: int) -> dict[str, Any]:
        entries = {}
        for _ in range(count):
            key = self.value(depth + 1)
            entries[str(key)] = self.value(depth + 1)
        return entries

    def _number(self, form: str) -> Any:
        (number,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return number

    def _length(self, size: int) -> int:
        return int.from_bytes(self._bytes(size), "big")

    def _text(self, size: int) -> str:
        return self._bytes(size).decode("utf-8", "replace")

    def _bytes(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise IndexError
        self.at += size
        return self.data[self.at - size : self.at]
