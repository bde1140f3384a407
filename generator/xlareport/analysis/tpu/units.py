"""The utilization of a core's units, and the unit that limits a program."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.tpu.program_record import UnitUse
from xlareport.readers.llo.utilization import Utilization

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
