"""The table of collectives that only one of two dumps has."""

from collections.abc import Sequence

from xlareport.analysis.compare.placed_collectives import CollectiveChange
from xlareport.pages.tables import Cell, Column, Table

_MICROSECONDS = 1e6
_SCOPE = "Named scopes and the framework's op; numbers of layers as *"


def collectives_table(changes: Sequence[CollectiveChange], address: str) -> Table:
    """Return the table, the slowest first; its rows lead to `address`, which shows the modules."""
    columns = (
        Column("Collective", "link", "both final modules side by side"),
        Column("Only in"),
        Column("Kind"),
        Column("Shape", "code", "of the result"),
        Column("Scope", help=_SCOPE),
        Column("Phase"),
        Column("Estimated µs", "float", "estimated time per run"),
    )
    return Table(columns, [_row(change, address) for change in changes])


def _row(change: CollectiveChange, address: str) -> list[Cell]:
    collective = change.collective
    return [
        [f"%{collective.instruction}", address],
        "the head" if change.in_head else "the base",
        collective.kind,
        collective.shape,
        collective.path or None,
        str(collective.phase),
        collective.seconds * _MICROSECONDS,
    ]
