"""Multiply-adds executed by the matrix units, compared with those in the HLO: padding waste."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from xlareport.analysis.cost.work import InstructionCost
from xlareport.analysis.tpu.program_record import MatrixWork
from xlareport.knowledge.devices import Device
from xlareport.knowledge.tpu_cores import TpuCore
from xlareport.readers.llo.utilization import Utilization

_MULTIPLIED = frozenset({"bf16", "f32"})
"""Types whose products take the cycles of bf16: narrower ones pack more into a cycle."""
_SPLIT = 0.99
"""Share of the work below which several cores must share it; convolutions skip a little."""


def measure_matrix_work(
    used: Utilization | None,
    counts: Sequence[int] | None,
    cost: InstructionCost | None,
    device: Device | None,
    core: TpuCore | None,
) -> MatrixWork | None:
    """Return executed and required work of the matrix units; None if these are not used.

    `with_waste` adds the figures that depend on all programs of a module.
    """
    busy = used.columns.get("MXU") if used else None
    if busy is None or not any(busy) or core is None:
        return None
    executed = None
    if counts is not None and len(counts) == len(busy):
        cycles = sum(count * units for count, units in zip(counts, busy, strict=True) if units)
        executed = cycles * core.macs_per_mxu_cycle
    wanted = _wanted(cost, device) if cost and device else None
    return MatrixWork(executed, wanted, None, None)


def count_cores(works: Iterable[MatrixWork | None], core: TpuCore | None) -> int:
    """Return how many cores share each program of a module.

    They all do where one core executes less than a program has to: a compiler splits all or none.
    """
    ratios = [
        work.executed / work.wanted for work in works if work and work.executed and work.wanted
    ]
    return core.cores if core and any(ratio < _SPLIT for ratio in ratios) else 1


def with_waste(work: MatrixWork, cores: int) -> MatrixWork:
    """Return the work with its waste; without where less is executed than is wanted."""
    if work.executed is None or not work.wanted:
        return work
    waste = cores * work.executed / work.wanted
    return replace(work, cores=cores, waste=waste) if waste >= _SPLIT else work


def _wanted(cost: InstructionCost, device: Device) -> int | None:
    """Return the multiply-adds of all passes; None where a type packs more into a cycle."""
    wanted = 0
    for kind, flops in cost.matrix_flops:
        element_type, passes = device.passes(kind)
        if element_type not in _MULTIPLIED:
            return None
        wanted += flops // 2 * passes
    return wanted or None
