"""The table of collectives that only one of two dumps has."""

from collections.abc import Sequence

from xlareport.analysis.compare.placed_collectives import CollectiveChange
from xlareport.pages.tables import Cell, Column, Table

_MICROSECONDS = 1e6
_SCOPE = "Named scopes and the framework's op; numbers of layers as *"

_MEMBERS = (
    "What a combined collective combines: how many only this dump has, of how many. A collective "
    "that the other dump combines with others is not in this table"
)


def collectives_table(changes: Sequence[CollectiveChange], address: str) -> Table:
    """Return the table, the slowest first; its rows lead to `address`, which shows the modules."""
    columns = (
        Column("Collective", "link", "both final modules side by side"),
        Column(
            "Bytes sent", "bytes", "by each device in one execution of the module, loops included"
        ),
        Column("Only in"),
        Column("Estimated µs", "float", "estimated time per run"),
        Column("Shape", "code", "of the result"),
        Column("Scope", help=_SCOPE),
        Column("Phase"),
        Column("Executions", "int", "in one execution of the module"),
        Column("Members", help=_MEMBERS),
        Column("Kind"),
    )
    return Table(columns, [_row(change, address) for change in changes])


def _row(change: CollectiveChange, address: str) -> list[Cell]:
    collective = change.collective
    return [
        [f"%{collective.instruction}", address],
        collective.sent_bytes,
        "the head" if change.in_head else "the base",
        collective.seconds * _MICROSECONDS,
        collective.shape,
        collective.path or None,
        str(collective.phase),
        collective.executions,
        _members(change),
        collective.kind,
    ]


def _members(change: CollectiveChange) -> str | None:
    """Return how many members only one dump has, of how many; None for a single operand."""
    count = len(change.collective.members)
    return f"{change.only_here:,} of {count:,}" if count > 1 else None
