"""Reads what compilers of GPU code write of spilled registers into a log.

Sources: OpenXLA, xla/service/gpu/llvm_gpu_backend/amdgpu_backend.cc (TF_CPP_VMODULE, level 1) from
December 2025 on, and the warning of NVIDIA's ptxas, which XLA passes on.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

MOST_SPILLS = 1_000
"""Limit on stored lines of one log."""
_NAME = r"([\w.$\-]{1,500}+)"
_AMD_KERNEL = re.compile(
    rf"Register spilling in kernel '{_NAME}' \(SGPR: (\d{{1,9}}), VGPR: (\d{{1,9}})\) in {_NAME}"
)
_AMD_MODULE = re.compile(
    rf"Register spilling \(SGPR: (\d{{1,9}}), VGPR: (\d{{1,9}})\) detected in {_NAME}"
)
_AMD_BLOCK = re.compile(
    rf"REGISTER SPILLING DETECTED[^\n]{{0,40}}+\n[^\n]{{0,200}}?\] Module: {_NAME}\n"
    r"[^\n]{0,200}?\] SGPR spill count: (\d{1,9})\n[^\n]{0,200}?\] VGPR spill count: (\d{1,9})"
)
_NVIDIA = re.compile(
    rf"Registers are spilled to local memory in function '{_NAME}', "
    r"(\d{1,15}) bytes spill stores, (\d{1,15}) bytes spill loads"
)


class LoggedSpill(Struct, frozen=True):
    """Spills in a log, of one kernel or of the worst kernel of one LLVM module."""

    kernel: str
    """Empty where the log names the LLVM module alone."""
    llvm_module: str
    """Empty where the log names the kernel alone."""
    scalars: int | None = None
    """Registers of AMD GPUs."""
    vectors: int | None = None
    store_bytes: int | None = None
    """Bytes in the code of one thread, on NVIDIA GPUs."""
    load_bytes: int | None = None


def read_spill_log(data: bytes) -> tuple[LoggedSpill, ...]:
    """Return the spills in a log, equal lines once; empty for a log without any."""
    return tuple(dict.fromkeys(_spills(data.decode(errors="replace"))))[:MOST_SPILLS]


def _spills(text: str) -> Iterator[LoggedSpill]:
    for match in _AMD_KERNEL.finditer(text):
        yield LoggedSpill(match[1], match[4], int(match[2]), int(match[3]))
    for match in _AMD_MODULE.finditer(text):
        yield LoggedSpill("", match[3], int(match[1]), int(match[2]))
    for match in _AMD_BLOCK.finditer(text):
        yield LoggedSpill("", match[1], int(match[2]), int(match[3]))
    for match in _NVIDIA.finditer(text):
        stores, loads = int(match[2]), int(match[3])
        yield LoggedSpill(match[1], "", store_bytes=stores, load_bytes=loads)
