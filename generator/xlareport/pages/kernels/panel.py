"""The figures of a GPU kernel in the panel of the instruction that launches it."""

from collections.abc import Iterator, Mapping

from xlareport.analysis.kernels.record import KernelRecord, ModuleKernels
from xlareport.pages.kernels.kernel_sentences import describe_occupancy
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

_MOST_KERNELS = 10
"""Limit on kernels of one instruction in the panel; the table has all."""
PanelRows = list[list[str]]
"""Rows of (label, figure)."""


def kernel_facts(kernels: ModuleKernels | None) -> Mapping[tuple[str, str], PanelRows]:
    """Return the figures of kernels by the (computation, instruction) that launches them."""
    launched = kernels.kernels if kernels else ()
    by_instruction = group_by_key(
        (place, kernel) for kernel in launched for place in kernel.instructions
    )
    return {
        place: [list(fact) for kernel in listed[:_MOST_KERNELS] for fact in _facts(kernel)]
        for place, listed in by_instruction.items()
    }


def _facts(kernel: KernelRecord) -> Iterator[tuple[str, str]]:
    yield "Kernel", kernel.name
    if kernel.threads is not None:
        blocks = f"{units.count(kernel.blocks)} blocks of " if kernel.blocks else "blocks of "
        yield "Launch", f"{blocks}{units.count(kernel.threads)} threads"
    if kernel.registers is not None:
        yield "Registers", str(kernel.registers)
    elif kernel.registers_at_most is not None:
        yield "Registers", f"at most {kernel.registers_at_most}"
    if kernel.shared_bytes is not None:
        yield "Shared memory", units.byte_size(kernel.shared_bytes)
    if kernel.spill_bytes is not None:
        yield "Spills", units.byte_size(kernel.spill_bytes)
    if kernel.spilled_registers is not None:
        yield "Spilled registers", str(kernel.spilled_registers)
    if kernel.occupancy is not None or kernel.occupancy_at_most is not None:
        yield "Occupancy", describe_occupancy(kernel)
    if kernel.waves is not None:
        yield "Waves", f"{kernel.waves:.3g}"
