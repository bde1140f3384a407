"""How many blocks of a kernel are resident on one multiprocessor, and what limits them.

The calculation of NVIDIA's `cuda_occupancy.h` (CUDA 12.9) for compute capability 7.0 and later,
with no preference between shared memory and L1; for AMD GPUs that of LLVM's AMDGPU backend
(GCNSubtarget, AMDGPUBaseInfo of LLVM 19), resource by resource, joined for whole work-groups: a
work-group is resident with all of its wavefronts.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from xlareport.knowledge.compute_units import ComputeUnit
from xlareport.knowledge.multiprocessors import MOST_THREADS, WARP, Multiprocessor
from xlareport.runtime.whole_numbers import round_up

_MOST_AMD_THREADS = 1024
"""Limit on threads of a work-group."""
Unit = Multiprocessor | ComputeUnit
"""The unit on which blocks are resident."""
_LEAST_UNIT = 8
"""Allocation unit of registers per thread: 256 per warp."""


class BlockNeeds(Struct, frozen=True):
    """The resources of one block of a kernel."""

    threads: int
    registers: int
    """Registers per thread."""
    shared_bytes: int
    """Static and dynamic, without the part reserved by the system."""
    barriers: int = 1
    scalar_registers: int = 0
    """Of a wavefront of an AMD GPU."""


class KernelOccupancy(Struct, frozen=True):
    """The blocks and warps that are resident on one multiprocessor."""

    blocks: int
    """0 where a block does not fit at all."""
    warps: int
    share: float
    """Share of the warps that the multiprocessor can hold, 0 to 1."""
    limits: Mapping[str, int]
    """The number of blocks that each resource allows; unused resources are left out."""

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The resources that allow no further block: `threads`, `blocks`, `registers`, ..."""
        return tuple(name for name, most in self.limits.items() if most <= self.blocks)


def find_occupancy(needs: BlockNeeds, unit: Unit) -> KernelOccupancy:
    """Return the theoretical occupancy of a kernel, for one block size."""
    limits = _limits(needs, unit)
    blocks = min(limits.values())
    warps = blocks * -(-needs.threads // unit.warp)
    return KernelOccupancy(blocks, warps, warps / unit.warps, limits)


def _limits(needs: BlockNeeds, unit: Unit) -> Mapping[str, int]:
    if isinstance(unit, ComputeUnit):
        scalars, shared = needs.scalar_registers, needs.shared_bytes
        return amd_limits(needs.threads, needs.registers, scalars, shared, unit)
    limits = {
        "threads": 0 if needs.threads > MOST_THREADS else unit.warps // warps_of(needs.threads),
        "blocks": unit.blocks,
        "registers": _by_registers(needs, unit),
        "shared memory": _by_shared(needs, unit),
        "barriers": _by_barriers(needs, unit),
    }
    return {name: most for name, most in limits.items() if most is not None}


def warps_of(threads: int) -> int:
    """Return the warps of a block."""
    return -(-threads // WARP)


def most_registers(threads: int, unit: Unit) -> int:
    """Return the bound on the registers of a thread: one block must fit."""
    if isinstance(unit, ComputeUnit):
        return most_vector_registers(threads, unit)
    warps = round_up(warps_of(threads), unit.partitions)
    fitting = unit.registers // (warps * WARP) // _LEAST_UNIT * _LEAST_UNIT
    return min(unit.registers_of_thread, fitting)


def registers_for(needs: BlockNeeds, unit: Unit, blocks: int) -> int | None:
    """Return the most registers per thread with which `blocks` fit; None if none do."""
    for registers in range(needs.registers, 0, -1):
        most = _limits(replace(needs, registers=registers), unit).get("registers")
        if most is None or most >= blocks:
            return registers
    return None


def _by_registers(needs: BlockNeeds, sm: Multiprocessor) -> int | None:
    """Return the blocks for which there are registers: each scheduler has a part for its warps."""
    of_warp = round_up(needs.registers * WARP, sm.register_unit)
    if not of_warp:
        return None
    warps = warps_of(needs.threads)
    fits = of_warp * round_up(warps, sm.partitions) <= sm.registers
    if needs.registers > sm.registers_of_thread or not fits:
        return 0
    return sm.registers // sm.partitions // of_warp * sm.partitions // warps


def _by_shared(needs: BlockNeeds, sm: Multiprocessor) -> int | None:
    of_block = round_up(needs.shared_bytes + sm.shared_reserved, sm.shared_unit)
    if not of_block:
        return None
    return 0 if of_block > sm.shared_with_opt_in + sm.shared_reserved else sm.shared // of_block


def _by_barriers(needs: BlockNeeds, sm: Multiprocessor) -> int | None:
    return sm.blocks * sm.barriers // needs.barriers if needs.barriers and sm.barriers else None


def amd_limits(
    threads: int, registers: int, scalar_registers: int, shared_bytes: int, unit: ComputeUnit
) -> Mapping[str, int]:
    """Return resource -> work-groups for which a compute unit has room.

    What is not needed is not in the result.
    """
    warps = -(-threads // unit.warp)
    limits = {
        "threads": 0 if threads > _MOST_AMD_THREADS else unit.warps // warps,
        "registers": _whole_groups(vector_warps(registers, unit), warps, unit)
        if registers
        else None,
        "scalar registers": _whole_groups(scalar_warps(scalar_registers, unit), warps, unit),
        "shared memory": _groups_by_shared(shared_bytes, unit),
        "blocks": unit.blocks if warps > 1 else None,
    }
    return {name: most for name, most in limits.items() if most is not None}


def vector_warps(registers: int, unit: ComputeUnit) -> int:
    """Return the wavefronts of one SIMD for which there are enough vector registers."""
    if registers > unit.registers_of_thread:
        return 0
    of_warp = -(-max(1, registers) // unit.register_unit) * unit.register_unit
    return unit.registers // of_warp


def scalar_warps(registers: int, unit: ComputeUnit) -> int | None:
    """Return the wavefronts of one SIMD with enough scalar registers; None if not a limit."""
    fitting = [warps for most, warps in unit.scalar_registers if registers <= most]
    warps = max(fitting, default=None)
    return None if warps is None or warps >= unit.warps_of_partition else warps


def most_vector_registers(threads: int, unit: ComputeUnit) -> int:
    """Return the bound on the vector registers of a thread: one work-group must fit."""
    warps = -(-threads // unit.warp)
    of_simd = -(-warps // unit.partitions)
    fitting = unit.registers // of_simd // unit.register_unit * unit.register_unit
    return min(fitting, unit.registers_of_thread)


def _whole_groups(of_partition: int | None, warps: int, unit: ComputeUnit) -> int | None:
    """Return the number of whole work-groups in the wavefronts; a SIMD runs whole wavefronts."""
    return None if of_partition is None else of_partition * unit.partitions // warps


def _groups_by_shared(shared_bytes: int, unit: ComputeUnit) -> int | None:
    of_block = round_up(shared_bytes, unit.shared_unit)
    if not of_block:
        return None
    return 0 if of_block > unit.shared_of_block else unit.shared // of_block
