"""Reads the output of `ptxas -v`: registers, spills, stack and static shared memory."""

import re

from msgspec import Struct
from msgspec.structs import replace

_ENTRY = re.compile(r"Compiling entry function '([^'\n]{1,2000})' for '(\w{1,40})'")
_PROPERTIES = re.compile(r"Function properties for (\S{1,2000})")
_SPILLS = re.compile(
    r"(\d{1,15}) bytes stack frame, (\d{1,15}) bytes spill stores, (\d{1,15}) bytes spill loads"
)
_REGISTERS = re.compile(r"Used (\d{1,9}) registers")
_BARRIERS = re.compile(r"used (\d{1,9}) barriers")
_SHARED = re.compile(r"(\d{1,15}) bytes smem")
_FAULT = re.compile(r"ptxas[^:\n]{0,200}(?:fatal|error) *: *([^\n]{1,300})")


class CompiledKernel(Struct, frozen=True):
    """The resources of a kernel as reported by the assembler."""

    name: str
    target: str
    """`sm_90a`"""
    registers: int | None = None
    """Of 32 bits, per thread."""
    shared_bytes: int = 0
    """Static; what the launch adds is not in it."""
    stack_bytes: int | None = None
    """Per thread."""
    spill_store_bytes: int | None = None
    """Bytes of store instructions in the code of one thread."""
    spill_load_bytes: int | None = None
    barriers: int = 0


def read_ptxas_output(text: str) -> tuple[CompiledKernel, ...]:
    """Return the kernels of which the output states registers, in its order."""
    kernels: dict[str, CompiledKernel] = {}
    current, described = "", ""
    for line in text.splitlines():
        if match := _ENTRY.search(line):
            current = match[1]
            kernels[current] = CompiledKernel(current, match[2])
        elif match := _PROPERTIES.search(line):
            described = match[1]
        elif (match := _SPILLS.search(line)) and described in kernels:
            stack, stores, loads = map(int, match.groups())
            kernels[described] = replace(
                kernels[described],
                stack_bytes=stack,
                spill_store_bytes=stores,
                spill_load_bytes=loads,
            )
        elif (match := _REGISTERS.search(line)) and current:
            kernels[current] = _with_figures(kernels[current], line, int(match[1]))
    return tuple(kernel for kernel in kernels.values() if kernel.registers is not None)


def read_ptxas_fault(text: str) -> str:
    """Return the first error of the output; empty where it has none."""
    match = _FAULT.search(text)
    return match[1].strip() if match else ""


def _with_figures(kernel: CompiledKernel, line: str, registers: int) -> CompiledKernel:
    shared, barriers = _SHARED.search(line), _BARRIERS.search(line)
    return replace(
        kernel,
        registers=registers,
        shared_bytes=int(shared[1]) if shared else 0,
        barriers=int(barriers[1]) if barriers else 0,
    )
