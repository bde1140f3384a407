"""How many work-groups of a kernel the resources of an AMD compute unit leave room for.

The calculation of LLVM's AMDGPU backend (GCNSubtarget, AMDGPUBaseInfo of LLVM 19), resource by
resource, joined for whole work-groups: a work-group is resident with all of its wavefronts.
"""

from collections.abc import Mapping

from xlareport.knowledge.compute_units import ComputeUnit
from xlareport.runtime.whole_numbers import round_up

MOST_THREADS = 1024
"""Limit on threads of a work-group."""


def amd_limits(
    threads: int, registers: int, scalar_registers: int, shared_bytes: int, unit: ComputeUnit
) -> Mapping[str, int]:
    """Return resource -> work-groups for which a compute unit has room.

    What is not needed is not in the result.
    """
    warps = -(-threads // unit.warp)
    limits = {
        "threads": 0 if threads > MOST_THREADS else unit.warps // warps,
        "registers": _fitting(vector_warps(registers, unit), warps, unit) if registers else None,
        "scalar registers": _fitting(scalar_warps(scalar_registers, unit), warps, unit),
        "shared memory": _by_shared(shared_bytes, unit),
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


def _fitting(of_partition: int | None, warps: int, unit: ComputeUnit) -> int | None:
    """Return the number of whole work-groups in the wavefronts; a SIMD runs whole wavefronts."""
    return None if of_partition is None else of_partition * unit.partitions // warps


def _by_shared(shared_bytes: int, unit: ComputeUnit) -> int | None:
    of_block = round_up(shared_bytes, unit.shared_unit)
    if not of_block:
        return None
    return 0 if of_block > unit.shared_of_block else unit.shared // of_block
