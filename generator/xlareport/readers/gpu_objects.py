"""Reads what machine code of GPUs needs: cubins of NVIDIA, code objects of AMD.

Sources: sections `.nv.info` and `.nv.shared.KERNEL` of cubins, compared with `ptxas -v`, as NVIDIA
does not describe them; LLVM, User Guide for AMDGPU Backend, Code Object V3 Metadata.
"""

import struct
from collections.abc import Iterator
from itertools import chain
from typing import Any

from msgspec import DecodeError, Struct, msgpack

from xlareport.readers.elf import Section, read_sections, read_symbols
from xlareport.runtime.whole_numbers import round_up

_SIZED = 4
"""The format of an attribute of `.nv.info` that has a size."""
_REGISTERS = 0x2F
_FRAME = 0x11
_AMD_METADATA = 32
_TEXT = ".text."
_SHARED = ".nv.shared."
_RESERVING = ".nv.shared.reserved"
"""A section of cubins from compute capability 9.0 on."""
_RESERVED = 1024
"""Bytes of the system's own in each section of shared memory where that section is."""
_NOTES = 7
_MOST_ATTRIBUTES = 100_000


class ObjectKernel(Struct, frozen=True):
    """The resources of a kernel in its machine code. None if unknown."""

    name: str
    registers: int | None
    """Per thread; vector registers on AMD GPUs."""
    shared_bytes: int | None
    """Static."""
    stack_bytes: int | None
    spilled_registers: int | None
    """Vector registers; only AMD's code objects say it."""
    source: str
    target: str = ""
    """`amdgcn-amd-amdhsa--gfx90a`; empty for cubins."""
    threads_at_most: int | None = None
    """Of a block, as the code was compiled for."""
    scalar_registers: int | None = None
    """Of a wavefront of an AMD GPU."""
    spilled_scalars: int | None = None
    """Scalar registers that are spilled, first into vector registers."""
    warp: int | None = None
    """Threads of a wavefront of an AMD GPU."""
    in_pairs: bool = False
    """Whether a work-group runs on two compute units at once."""


def read_gpu_object(data: bytes) -> tuple[ObjectKernel, ...]:
    """Return the kernels of a cubin or of an AMD code object; empty for any other file."""
    sections = read_sections(data)
    if any(section.name.startswith(".nv.info") for section in sections):
        return tuple(_cubin(data, sections))
    return tuple(_amd(data, sections))


def _cubin(data: bytes, sections: tuple[Section, ...]) -> Iterator[ObjectKernel]:
    section_info = next((section for section in sections if section.name == ".nv.info"), None)
    symbols = read_symbols(data, sections)
    content = section_info.content(data) if section_info else b""
    registers, frames = _by_symbol(content, _REGISTERS), _by_symbol(content, _FRAME)
    numbers = {symbol.name: number for number, symbol in enumerate(symbols)}
    shared = {
        section.name: section.size for section in sections if section.name.startswith(_SHARED)
    }
    kernels = {section.name.removeprefix(".nv.info.") for section in sections}
    reserved = _RESERVED if any(name.startswith(_RESERVING) for name in shared) else 0
    for section in sections:
        name = section.name.removeprefix(_TEXT)
        if section.name.startswith(_TEXT) and name in kernels:
            number = numbers.get(name, -1)
            size = max(0, shared.get(_SHARED + name, 0) - reserved)
            yield ObjectKernel(
                name, registers.get(number), size, frames.get(number), None, "cubin (.nv.info)"
            )


def _by_symbol(info: bytes, wanted: int) -> dict[int, int]:
    """Return the value of one attribute of `.nv.info` by symbol."""
    values: dict[int, int] = {}
    at = 0
    for _ in range(_MOST_ATTRIBUTES):
        if at + 4 > len(info):
            break
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == _SIZED:
            if attribute == wanted and size >= 8 and at + 8 <= len(info):
                symbol, value = struct.unpack_from("<II", info, at)
                values[symbol] = value
            at += size
    return values


def _amd(data: bytes, sections: tuple[Section, ...]) -> Iterator[ObjectKernel]:
    contents = (section.content(data) for section in sections if section.type == _NOTES)
    for note in chain.from_iterable(map(_notes, contents)):
        described = _described(note)
        target = str(described.get("amdhsa.target", ""))[:100]
        kernels = described.get("amdhsa.kernels")
        for kernel in kernels if isinstance(kernels, list) else ():
            if isinstance(kernel, dict):
                yield _amd_kernel(kernel, target)


def _described(note: bytes) -> dict[Any, Any]:
    """Return what a note describes in MessagePack; nothing where it is damaged."""
    try:
        described = msgpack.decode(note)
    except (DecodeError, RecursionError):
        return {}
    return described if isinstance(described, dict) else {}


def _amd_kernel(kernel: dict[Any, Any], target: str) -> ObjectKernel:
    def number(name: str) -> int | None:
        value = kernel.get(name)
        return value if isinstance(value, int) and value >= 0 else None

    return ObjectKernel(
        name=str(kernel.get(".name", "")),
        registers=number(".vgpr_count"),
        shared_bytes=number(".group_segment_fixed_size"),
        stack_bytes=number(".private_segment_fixed_size"),
        spilled_registers=number(".vgpr_spill_count"),
        source="AMD code object (notes)",
        target=target,
        threads_at_most=number(".max_flat_workgroup_size"),
        scalar_registers=number(".sgpr_count"),
        spilled_scalars=number(".sgpr_spill_count"),
        warp=number(".wavefront_size"),
        in_pairs=bool(number(".workgroup_processor_mode")),
    )


def _notes(content: bytes) -> Iterator[bytes]:
    """Yield the descriptions of the notes of AMD's metadata."""
    at = 0
    while at + 12 <= len(content):
        name_size, size, kind = struct.unpack_from("<III", content, at)
        start = at + 12 + round_up(name_size, 4)
        if kind == _AMD_METADATA and content[at + 12 : at + 18] == b"AMDGPU":
            yield content[start : start + size]
        at = start + round_up(size, 4)
