"""The utilization of a core's units, the unit that limits a program, and products of padding."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from xlareport.analysis.cost.work import InstructionCost
from xlareport.analysis.tpu.program_record import MatrixWork, UnitUse
from xlareport.knowledge.devices import Device
from xlareport.knowledge.tpu_cores import TpuCore
from xlareport.readers.llo.utilization import Utilization

_MULTIPLIED = frozenset({"bf16", "f32"})
"""Types whose products take the cycles of bf16: narrower ones pack more into a cycle."""
_SPLIT = 0.99
"""Share of the work below which several cores must share it; convolutions skip a little."""
LATENCY = "latency or control"
"""The bottleneck of a program in which no unit is busy for long."""
_LEAST_BOTTLENECK = 0.3
"""Share of the cycles that the busiest unit of a program needs to count as its bottleneck."""
PARTS = frozenset({"VLOAD:FILL", "VSTORE:SPILL"})
"""Columns that count a part of another one."""


def unit_uses(
    used: Utilization | None, final: Utilization | None, counts: Sequence[int] | None
) -> Mapping[str, UnitUse]:
    """Return the use of each unit by name; `counts` are the runs of each row, None if unknown."""
    if used is None:
        return {}
    return {unit: _use(used, final, unit, counts) for unit in used.units}


def _use(
    used: Utilization, final: Utilization | None, unit: str, counts: Sequence[int] | None
) -> UnitUse:
    column, capacity = used.columns[unit], used.capacity[unit]
    whole = used.is_whole and used.rows > 0 and capacity > 0
    dynamic = None
    if whole and counts is not None and len(counts) == used.rows:
        busy = sum(count * slots for count, slots in zip(counts, column, strict=True) if slots)
        dynamic = busy / (capacity * max(1, sum(counts)))
    return UnitUse(
        used=sum(column),
        capacity=capacity,
        share=sum(column) / (capacity * used.rows) if whole else None,
        used_final=final.used(unit) if final else None,
        dynamic_share=dynamic,
    )


def find_bottleneck(units: Mapping[str, UnitUse]) -> str:
    """Return the unit with the largest share of its capacity; `latency or control` below 30%."""
    shares = {
        unit: _share(use)
        for unit, use in units.items()
        if unit not in PARTS and use.share is not None
    }
    if not shares:
        return ""
    unit = max(shares, key=lambda name: shares[name])
    return unit if shares[unit] >= _LEAST_BOTTLENECK else LATENCY


def _share(use: UnitUse) -> float:
    return (use.share or 0.0) if use.dynamic_share is None else use.dynamic_share


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
