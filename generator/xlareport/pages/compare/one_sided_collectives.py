"""The table of collectives that only one of two dumps has."""

from collections.abc import Sequence

from xlareport.analysis.compare.placed_collectives import CollectiveChange
from xlareport.pages.tables import Column, Table, tabulate

_MICROSECONDS = 1e6
_SCOPE = "Named scopes and the framework's op; numbers of layers as *"

_MEMBERS = (
    "What a combined collective combines: how many only this dump has, of how many. A collective "
    "that the other dump combines with others is not in this table"
)


def collectives_table(changes: Sequence[CollectiveChange], address: str) -> Table:
    """Return the table, the slowest first; its rows lead to `address`, which shows the modules."""
    return tabulate(
        changes,
        {
            Column("Collective", "link", "both final modules side by side"): lambda row: [
                f"%{row.collective.instruction}",
                address,
            ],
            Column(
                "Bytes sent",
                "bytes",
                "by each device in one execution of the module, loops included",
            ): lambda row: row.collective.sent_bytes,
            Column("Only in"): lambda row: "the head" if row.in_head else "the base",
            Column("Estimated µs", "float", "estimated time per run"): lambda row: (
                row.collective.seconds * _MICROSECONDS
            ),
            Column(
                "Shape", "code", "of the result; of some of the members, that of their operands"
            ): lambda row: row.collective.shape,
            Column("Scope", help=_SCOPE): lambda row: row.collective.path or None,
            Column("Phase"): lambda row: str(row.collective.phase),
            Column("Executions", "int", "in one execution of the module"): lambda row: (
                row.collective.executions
            ),
            Column("Members", help=_MEMBERS): _members,
            Column("Kind"): lambda row: row.collective.kind,
        },
    )


def _members(change: CollectiveChange) -> str | None:
    """Return how many members only one dump has, of how many; None for a single operand."""
    count = len(change.collective.members)
    return f"{change.only_here:,} of {count:,}" if count > 1 else None
