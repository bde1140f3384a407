"""Takes large protobuf messages apart where they lie in a file, without holding them whole.

A message is a row of fields, each with its number, how it is written, and its length. Source:
protobuf.dev, Encoding.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from google.protobuf.message import DecodeError

_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5
_SIZES = {_FIXED_64: 8, _FIXED_32: 4}
_LONGEST_VARINT = 10
_HEAD = 2 * _LONGEST_VARINT
_PIECE = 1 << 20
"""Bytes that are held at a time, unless a single field is longer."""
_LONGEST_FIELD = 1 << 26
_MOST_FIELDS = 1_000_000
"""Of a message that is taken apart one by one: planes of a profile have thousands."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where a field of a message lies in the file."""

    number: int
    start: int
    """Of its value."""
    end: int


def fields(file: IO[bytes], start: int, end: int) -> Iterator[Field]:
    """Yield the fields of the message that lies there; raises DecodeError where it is none."""
    count = 0
    while start < end:
        count += 1
        if count > _MOST_FIELDS:
            raise DecodeError(f"a message has more than {_MOST_FIELDS:,} fields")
        file.seek(start)
        number, value, after = _field(file.read(_HEAD), 0)
        if start + after > end:
            raise DecodeError("a field is longer than its message")
        yield Field(number, start + value, start + after)
        start += after


def value_of(file: IO[bytes], field: Field) -> bytes:
    """Return the bytes of a field; raises DecodeError where they are too many."""
    if field.end - field.start > _LONGEST_FIELD:
        raise DecodeError(f"a field has more than {_LONGEST_FIELD:,} bytes")
    file.seek(field.start)
    return file.read(field.end - field.start)


def pieces(file: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    """Yield a message in pieces of whole fields: each is a message of its own, of the same kind."""
    size = _PIECE
    while start < end:
        file.seek(start)
        data = file.read(min(size, end - start))
        whole = _whole(data)
        if whole:
            yield data[:whole]
            start, size = start + whole, _PIECE
        elif len(data) < size or size > _LONGEST_FIELD:
            raise DecodeError("a field is longer than its message, or than any should be")
        else:
            size *= 4


def _whole(data: bytes) -> int:
    """Return where the last field ends that is there whole."""
    position = 0
    try:
        while position < len(data):
            after = _field(data, position)[2]
            if after > len(data):
                break
            position = after
    except DecodeError:
        if len(data) - position > _HEAD:  # else its number may be cut off by the end of the piece
            raise
    return position


def _field(data: bytes, position: int) -> tuple[int, int, int]:
    """Return number, start and end of the field that begins there."""
    tag, position = _varint(data, position)
    kind = tag & 7
    if kind == _LENGTH:
        length, position = _varint(data, position)
        return tag >> 3, position, position + length
    if kind == _VARINT:
        return tag >> 3, position, _varint(data, position)[1]
    if kind not in _SIZES:
        raise DecodeError("a field of no known kind")
    return tag >> 3, position, position + _SIZES[kind]


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    byte = data[position] if position < len(data) else 0x80
    if byte < 0x80:
        return byte, position + 1
    value = shift = 0
    for at in range(position, min(position + _LONGEST_VARINT, len(data))):
        value |= (data[at] & 0x7F) << shift
        if data[at] < 0x80:
            return value, at + 1
        shift += 7
    raise DecodeError("a number that does not end")
