"""A kernel in sentences: its resources, the limits of its occupancy, possible changes."""

from collections.abc import Iterator

from xlareport.analysis.kernels.record import (
    BY_NCCL,
    BlockSizeOccupancy,
    KernelRecord,
    ModuleKernels,
)
from xlareport.runtime import units
from xlareport.runtime.english import first_few

_NAMED = 5
_FEW_WAVES = 4


def describe_occupancy(kernel: KernelRecord) -> str:
    """Return the occupancy of a kernel in a few words."""
    if kernel.occupancy is not None:
        by = " and ".join(kernel.limited_by) if kernel.occupancy < 1 else ""
        return f"{units.precise_share(kernel.occupancy)}{f' by {by}' if by else ''}"
    if kernel.occupancy_at_least is not None and kernel.occupancy_at_most is not None:
        least, most = (
            units.precise_share(kernel.occupancy_at_least),
            units.precise_share(kernel.occupancy_at_most),
        )
        return f"{least} to {most}"
    if kernel.occupancy_at_most is not None:
        return f"at most {units.precise_share(kernel.occupancy_at_most)}"
    return "occupancy not known"


def describe_kernel(kernel: KernelRecord, module: ModuleKernels) -> Iterator[str]:
    """Yield sentences on a kernel; names are in backticks."""
    yield _launch(kernel)
    yield from _strategy(kernel)
    yield _needs(kernel)
    yield from _occupancy(kernel, module)
    yield from _block_size_changes(kernel)
    yield from _waves(kernel, module)
    yield from _elsewhere(kernel)
    if kernel.note:
        yield kernel.note if kernel.note.endswith(".") else f"{kernel.note}."


def _launch(kernel: KernelRecord) -> str:
    names = [name for _, name in kernel.instructions]
    by = first_few([f"`{name}`" for name in names], _NAMED)
    verb = "Compiled for" if kernel.strategy else "Launched by"
    start = f"{verb} {by}" if names else "No instruction is known to launch it"
    if kernel.threads is None:
        return f"{start}."
    many = f"{units.count(kernel.blocks)} blocks of " if kernel.blocks else "blocks of "
    return f"{start}: {many}{units.count(kernel.threads)} threads."


def _strategy(kernel: KernelRecord) -> Iterator[str]:
    """Yield sentences on whether a collective runs by this kernel or by NCCL, if known."""
    if kernel.strategy == BY_NCCL:
        yield (
            f"The config of the collective has kernel_strategy `{kernel.strategy}`: XLA plans NCCL "
            "for it, and this kernel has no share of the time. Which of them runs is decided at "
            "run time; the dump does not say."
        )
    elif kernel.strategy:
        yield (
            f"The config of the collective has kernel_strategy `{kernel.strategy}`: XLA plans this "
            "kernel for it. At run time, NCCL does it where the GPUs have no access to each "
            "other's memory."
        )


def _needs(kernel: KernelRecord) -> str:
    parts = []
    if kernel.registers is not None:
        scalars = kernel.scalar_registers
        of_wavefront = f" and {scalars} scalar registers a wavefront" if scalars else ""
        parts.append(f"{kernel.registers} registers a thread{of_wavefront}")
    elif kernel.registers_at_most is not None:
        parts.append(f"at most {kernel.registers_at_most} registers a thread")
    if kernel.shared_bytes is not None:
        dynamic = kernel.dynamic_shared_bytes
        of_it = f" ({units.byte_size(dynamic)} dynamic)" if dynamic else ""
        parts.append(f"{units.byte_size(kernel.shared_bytes)} of shared memory a block{of_it}")
    elif kernel.shared_bytes_at_most is not None:
        most = units.byte_size(kernel.shared_bytes_at_most)
        parts.append(f"at most {most} of shared memory a block")
    if kernel.spill_bytes:
        stores, loads = kernel.spill_store_bytes or 0, kernel.spill_load_bytes or 0
        sizes = f"{units.byte_size(stores)} of stores, {units.byte_size(loads)} of loads"
        parts.append(f"registers spilled ({sizes} in the code of a thread)")
    elif kernel.spill_bytes == 0:
        parts.append("no spills")
    if kernel.spilled_registers:
        parts.append(f"{kernel.spilled_registers} vector registers spilled")
    elif kernel.spilled_registers == 0:
        parts.append("no spills of vector registers")
    if kernel.spilled_scalars:
        parts.append(f"{kernel.spilled_scalars} scalar registers spilled into vector registers")
    figures = ("registers", "spilled_registers", "spill_bytes")
    source = next((source.source for source in kernel.sources if source.figure in figures), "")
    by = f", by {source}" if source else ""
    return f"It needs {', '.join(parts)}{by}." if parts else "Its resources are not known."


def _occupancy(kernel: KernelRecord, module: ModuleKernels) -> Iterator[str]:
    if kernel.occupancy is None or kernel.resident_blocks is None:
        return
    rooms = ", ".join(f"{limit.resource} {limit.blocks}" for limit in kernel.limits)
    blocks = units.plural(kernel.resident_blocks, "block")
    unit = f"pair of {module.unit}s" if kernel.is_on_pairs else module.unit
    yield (
        f"Occupancy {units.precise_share(kernel.occupancy)}: {blocks} on a {unit} at once. "
        f"Blocks that each resource allows: {rooms}."
    )


def _block_size_changes(kernel: KernelRecord) -> Iterator[str]:
    if kernel.registers_for_next is not None and kernel.occupancy_of_next is not None:
        then = units.precise_share(kernel.occupancy_of_next)
        yield f"With at most {kernel.registers_for_next} registers occupancy would be {then}."
    sizes = [size for size in kernel.block_sizes if size.occupancy != kernel.occupancy]
    if sizes:
        named = ", ".join(map(_with_threads, sizes))
        yield f"With other block sizes and the same registers and shared memory: {named}."


def _with_threads(size: BlockSizeOccupancy) -> str:
    held = units.precise_share(size.occupancy) if size.occupancy else "do not fit"
    return f"{size.threads} threads {held}"


def _waves(kernel: KernelRecord, module: ModuleKernels) -> Iterator[str]:
    waves, efficiency = kernel.waves, kernel.wave_efficiency
    if waves is None or efficiency is None or kernel.blocks is None:
        return
    if waves < 1:
        held = units.precise_share(waves)
        yield f"{units.plural(kernel.blocks, 'block')} fill {held} of the card: one wave."
        if module.multiprocessors and kernel.blocks < module.multiprocessors:
            yield f"{module.multiprocessors - kernel.blocks} {module.unit}s get no block."
    elif waves < _FEW_WAVES:
        full = units.precise_share(efficiency)
        yield f"{waves:.2f} waves: over all of them {full} of the card holds a block."
    else:
        yield f"{waves:.1f} waves; the last, partial one matters little."


def _elsewhere(kernel: KernelRecord) -> Iterator[str]:
    if kernel.elsewhere:
        named = ", ".join(
            f"{card.name} {units.precise_share(card.occupancy)}" for card in kernel.elsewhere
        )
        yield f"The same launch with the same registers elsewhere, hypothetical: {named}."
