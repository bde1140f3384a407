"""Finds the kernels that a file of code defines: PTX, LLVM IR and object files, by entry points."""

import re
import struct
from collections.abc import Iterator

_PTX_ENTRY = re.compile(rb"\.entry[ \t\n]++([A-Za-z_$%][\w$]*+)")
_NAME = rb"@(\"[^\"\n]{1,1000}\"|[\w.$-]{1,1000})"
_LLVM_DEFINE = re.compile(rb"^define ([^@\n]{0,400})" + _NAME + rb"\(", re.MULTILINE)
_PRIVATE = (b"internal", b"private", b"linkonce_odr", b"available_externally")
_GPU = (b"ptx_kernel", b"amdgpu_kernel", b"spir_kernel")
_GPU_ANNOTATION = re.compile(rb"!\{ptr " + _NAME + rb", !\"kernel\"")


def ptx_kernels(data: bytes) -> tuple[str, ...]:
    """Return the entry points of a PTX text; empty for an empty file, as XLA writes some."""
    return tuple(dict.fromkeys(_text(item) for item in _PTX_ENTRY.findall(data)))


def llvm_kernels(data: bytes) -> tuple[str, ...]:
    """Return the functions of an LLVM IR text that can be called from outside, kernels first.

    Where the text marks GPU kernels, only these.
    """
    defined = _LLVM_DEFINE.findall(data)
    marked = [name for words, name in defined if any(mark in words for mark in _GPU)]
    noted = _GPU_ANNOTATION.findall(data)
    visible = [name for words, name in defined if not any(mark in words for mark in _PRIVATE)]
    return tuple(dict.fromkeys(_text(item) for item in (marked or noted or visible)))


def _text(name: bytes) -> str:
    return name.strip(b'"').decode("utf-8", "replace")


_MAGIC = b"\x7fELF\x02\x01"
"""ELF, 64 bits, the least significant byte first."""
_SECTIONS_AT = 40
_SECTION_COUNT_AT = 60
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOL_TABLE = 2
_GLOBAL_FUNCTION = (1 << 4) | 2
_LONGEST_NAME = 1000
_MOST = 100_000
"""Symbols that are looked at."""


def object_kernels(data: bytes) -> tuple[str, ...]:
    """Return the functions of an object file that can be called from outside.

    Empty where it is no ELF file of 64 bits, as XLA:CPU writes on Linux. Source: System V ABI,
    ELF-64 object file format: headers, section table, symbol table.
    """
    if not data.startswith(_MAGIC):
        return ()
    try:
        return tuple(dict.fromkeys(_functions(data)))
    except (struct.error, OverflowError):
        return ()


def _functions(data: bytes) -> Iterator[str]:
    sections = list(_sections(data))
    table = next((section for section in sections if section[1] == _SYMBOL_TABLE), None)
    if table is None or table[6] >= len(sections):
        return
    start, size, strings = table[4], table[5], sections[table[6]][4]
    for number in range(min(size // _SYMBOL.size, _MOST)):
        name, info, _, section, _, _ = _SYMBOL.unpack_from(data, start + number * _SYMBOL.size)
        if info == _GLOBAL_FUNCTION and section:
            yield _string(data, strings + name)


def _sections(data: bytes) -> Iterator[tuple[int, ...]]:
    (start,) = struct.unpack_from("<Q", data, _SECTIONS_AT)
    (count,) = struct.unpack_from("<H", data, _SECTION_COUNT_AT)
    for number in range(count):
        yield _SECTION.unpack_from(data, start + number * _SECTION.size)


def _string(data: bytes, start: int) -> str:
    end = data.find(b"\0", start, start + _LONGEST_NAME)
    return data[start : end if end >= 0 else start + _LONGEST_NAME].decode("utf-8", "replace")
