"""Finds the kernels that a file of code defines: PTX, LLVM IR and object files, by entry points."""

import re

from xlareport.readers.elf import GLOBAL_FUNCTION, read_sections, read_symbols

_PTX_ENTRY = re.compile(rb"\.entry[ \t\n]++([A-Za-z_$%][\w$]*+)")
_NAME = rb"@(\"[^\"\n]{1,1000}\"|[\w.$-]{1,1000})"
_LLVM_DEFINE = re.compile(rb"^define ([^@\n]{0,400})" + _NAME + rb"\(", re.MULTILINE)
_PRIVATE = (b"internal", b"private", b"linkonce_odr", b"available_externally")
_GPU = (b"ptx_kernel", b"amdgpu_kernel", b"spir_kernel")
_GPU_ANNOTATION = re.compile(rb"!\{ptr " + _NAME + rb", !\"kernel\"")


def ptx_kernels(data: bytes) -> tuple[str, ...]:
    """Return the entry points of a PTX text; empty for an empty file, as XLA writes some."""
    return tuple(dict.fromkeys(_unquoted(item) for item in _PTX_ENTRY.findall(data)))


def llvm_kernels(data: bytes) -> tuple[str, ...]:
    """Return the functions of an LLVM IR text that can be called from outside, kernels first.

    Where the text marks GPU kernels, only these.
    """
    defined = _LLVM_DEFINE.findall(data)
    marked = [name for words, name in defined if any(mark in words for mark in _GPU)]
    noted = _GPU_ANNOTATION.findall(data)
    visible = [name for words, name in defined if not any(mark in words for mark in _PRIVATE)]
    return tuple(dict.fromkeys(_unquoted(item) for item in (marked or noted or visible)))


def _unquoted(name: bytes) -> str:
    return name.strip(b'"').decode("utf-8", "replace")


def object_kernels(data: bytes) -> tuple[str, ...]:
    """Return the functions of an object file that can be called from outside.

    Empty where it is no ELF file of 64 bits, as XLA:CPU writes on Linux.
    """
    symbols = read_symbols(data, read_sections(data))
    names = (symbol.name for symbol in symbols if symbol.info == GLOBAL_FUNCTION and symbol.section)
    return tuple(dict.fromkeys(names))
