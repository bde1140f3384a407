"""Reads the sections and symbols of an ELF file of 64 bits.

Source: System V ABI, ELF-64 object file format: headers, section table, symbol table.
"""

import struct
from collections.abc import Iterator

from msgspec import Struct

_MAGIC = b"\x7fELF\x02\x01"
"""ELF, 64 bits, the least significant byte first."""
_SECTIONS_AT = 40
_SECTION_COUNT_AT = 60
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
SYMBOLS = 2
"""The type of a symbol table."""
NO_BITS = 8
"""The type of a section that takes no room in the file."""
GLOBAL_FUNCTION = (1 << 4) | 2
_LONGEST_NAME = 1000
_MOST_ENTRIES = 100_000
"""Symbols, and sections, that are looked at."""


class Section(Struct, frozen=True):
    """A section of the file."""

    name: str
    type: int
    offset: int
    size: int
    link: int
    info: int

    def content(self, data: bytes) -> bytes:
        """Return its bytes; empty for a section that takes no room in the file."""
        return b"" if self.type == NO_BITS else data[self.offset : self.offset + self.size]


class Symbol(Struct, frozen=True):
    """A symbol of the file."""

    name: str
    info: int
    section: int


def read_sections(data: bytes) -> tuple[Section, ...]:
    """Return the sections; none where it is no such file, or is cut off before its table."""
    if not data.startswith(_MAGIC):
        return ()
    try:
        rows = list(_section_headers(data))
        (names_at,) = struct.unpack_from("<H", data, _SECTION_COUNT_AT + 2)
    except (struct.error, OverflowError):
        return ()
    names = rows[names_at][4] if names_at < len(rows) else len(data)
    return tuple(
        Section(_string(data, names + row[0]), row[1], row[4], row[5], row[6], row[7])
        for row in rows
    )


def read_symbols(data: bytes, sections: tuple[Section, ...]) -> tuple[Symbol, ...]:
    """Return the symbols of the first symbol table, by their numbers."""
    table = next((section for section in sections if section.type == SYMBOLS), None)
    if table is None or table.link >= len(sections):
        return ()
    try:
        return tuple(_symbols(data, table, sections[table.link].offset))
    except (struct.error, OverflowError):
        return ()


def _symbols(data: bytes, table: Section, names: int) -> Iterator[Symbol]:
    for number in range(min(table.size // _SYMBOL.size, _MOST_ENTRIES)):
        name, info, _, section, _, _ = _SYMBOL.unpack_from(
            data, table.offset + number * _SYMBOL.size
        )
        yield Symbol(_string(data, names + name), info, section)


def _section_headers(data: bytes) -> Iterator[tuple[int, ...]]:
    (start,) = struct.unpack_from("<Q", data, _SECTIONS_AT)
    (count,) = struct.unpack_from("<H", data, _SECTION_COUNT_AT)
    for number in range(count):
        yield _SECTION.unpack_from(data, start + number * _SECTION.size)


def _string(data: bytes, start: int) -> str:
    end = data.find(b"\0", start, start + _LONGEST_NAME)
    return data[start : end if end >= 0 else start + _LONGEST_NAME].decode("utf-8", "replace")
