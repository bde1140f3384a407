"""The table of TPU programs that differ between two compilations."""

from collections.abc import Iterator, Sequence

from xlareport.analysis.tpu.changes import ProgramSide, TpuProgramChange
from xlareport.pages.tables import Cell, Column, Table

_NOTHING = ProgramSide(None, None, None, None, "", None)


def tpu_programs_table(changes: Sequence[TpuProgramChange]) -> Table:
    """Return the table, with base and head of each figure side by side."""
    units = [*dict.fromkeys(unit for change in changes for unit in _units(change))]
    columns = (
        Column("Instruction", "code", of="instruction"),
        Column("Base cycles", "int", "dynamic: of one run with its loops, without stalls"),
        Column("Head cycles", "int", "dynamic: of one run with its loops, without stalls"),
        Column("Base static", "int", "cycles of one pass through the schedule"),
        Column("Head static", "int", "cycles of one pass through the schedule"),
        Column("Base spills", "int", "spill stores in the code"),
        Column("Head spills", "int", "spill stores in the code"),
        Column("Base bundles", "int", "in the final code"),
        Column("Head bundles", "int", "in the final code"),
        Column("Base bottleneck", "code"),
        Column("Head bottleneck", "code"),
        Column("Base share", "percent", "of the busiest unit"),
        Column("Head share", "percent", "of the busiest unit"),
        *(
            Column(f"{side} {unit}", "percent", "of its capacity, one pass")
            for unit in units
            for side in ("Base", "Head")
        ),
    )
    return Table(columns, [_row(change, units) for change in changes])


def _units(change: TpuProgramChange) -> Iterator[str]:
    """Yield the units of both sides."""
    for side in (change.base, change.head):
        yield from side.units if side else ()


def _row(change: TpuProgramChange, units: Sequence[str]) -> list[Cell]:
    base, head = change.base or _NOTHING, change.head or _NOTHING
    return [
        change.instruction,
        *(base.dynamic_cycles, head.dynamic_cycles),
        *(base.static_cycles, head.static_cycles),
        *(base.spill_stores, head.spill_stores),
        *(base.code_bundles, head.code_bundles),
        *(base.bottleneck or None, head.bottleneck or None),
        *(base.share, head.share),
        *(side.units.get(unit) for unit in units for side in (base, head)),
    ]
