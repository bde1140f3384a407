"""How many blocks of a kernel are resident on one multiprocessor, and what limits them.

The calculation of NVIDIA's `cuda_occupancy.h` (CUDA 12.9) for compute capability 7.0 and later,
with no preference between shared memory and L1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xlareport.knowledge.multiprocessors import MOST_THREADS, WARP, Multiprocessor


@dataclass(frozen=True, slots=True)
class BlockNeeds:
    """What one block of a kernel needs."""

    threads: int
    registers: int
    """Of one thread."""
    shared_bytes: int
    """Static and dynamic, without what the system reserves."""
    barriers: int = 1


@dataclass(frozen=True, slots=True)
class KernelOccupancy:
    """What is resident on one multiprocessor."""

    blocks: int
    """0 where a block does not fit at all."""
    warps: int
    share: float
    """Of the warps that the multiprocessor can hold, 0 to 1."""
    limits: Mapping[str, int]
    """Resource -> the blocks that it leaves room for; what is not needed is not there."""

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The resources that allow no further block: `threads`, `blocks`, `registers`, ..."""
        return tuple(name for name, most in self.limits.items() if most <= self.blocks)


def find_occupancy(needs: BlockNeeds, sm: Multiprocessor) -> KernelOccupancy:
    """Return the theoretical occupancy of a kernel; all of its launches are of one block size."""
    limits = {
        name: most
        for name, most in (
            ("threads", _by_threads(needs, sm)),
            ("blocks", sm.blocks),
            ("registers", _by_registers(needs, sm)),
            ("shared memory", _by_shared(needs, sm)),
            ("barriers", _by_barriers(needs, sm)),
        )
        if most is not None
    }
    blocks = min(limits.values())
    warps = blocks * warps_of(needs.threads)
    return KernelOccupancy(blocks, warps, warps / sm.warps, limits)


def warps_of(threads: int) -> int:
    """Return the warps of a block."""
    return -(-threads // WARP)


def registers_for(needs: BlockNeeds, sm: Multiprocessor, blocks: int) -> int | None:
    """Return the most registers of a thread with which so many blocks fit; None where none do."""
    for registers in range(needs.registers, 0, -1):
        most = _by_registers(replace(needs, registers=registers), sm)
        if most is None or most >= blocks:
            return registers
    return None


def _by_threads(needs: BlockNeeds, sm: Multiprocessor) -> int:
    return 0 if needs.threads > MOST_THREADS else sm.warps // warps_of(needs.threads)


def _by_registers(needs: BlockNeeds, sm: Multiprocessor) -> int | None:
    """Return the blocks for which there are registers: each scheduler has a part for its warps."""
    of_warp = _up(needs.registers * WARP, sm.register_unit)
    if not of_warp:
        return None
    warps = warps_of(needs.threads)
    fits = of_warp * _up(warps, sm.partitions) <= sm.registers
    if needs.registers > sm.registers_of_thread or not fits:
        return 0
    return sm.registers // sm.partitions // of_warp * sm.partitions // warps


def _by_shared(needs: BlockNeeds, sm: Multiprocessor) -> int | None:
    of_block = _up(needs.shared_bytes + sm.shared_reserved, sm.shared_unit)
    if not of_block:
        return None
    return 0 if of_block > sm.shared_with_opt_in + sm.shared_reserved else sm.shared // of_block


def _by_barriers(needs: BlockNeeds, sm: Multiprocessor) -> int | None:
    return sm.blocks * sm.barriers // needs.barriers if needs.barriers and sm.barriers else None


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
