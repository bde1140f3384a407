"""Tables of any length: a page loads only the payloads of visible rows.

A table of up to `PAGE` rows is one payload. For a longer one, `KEY` has the first rows, and
`KEY-1`, `KEY-2` and so on have the others, in the initial order of the table.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from xlareport.pages.tables import Cell, Table, table_file
from xlareport.storage.lazy_sequence import LazySequence
from xlareport.storage.payloads import TextFile, make_payload_file

PAGE = 1_000
"""Rows of a payload."""
TableRow = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class MadeRows(LazySequence[TableRow]):
    """Rows that are made on access, in table order."""

    number: int
    make: Callable[[int], TableRow]
    """Returns a row by its place."""

    def __len__(self) -> int:
        return self.number

    def value_at(self, place: int) -> TableRow:
        """Return a row by its place."""
        return self.make(place)


def table_files(key: str, table: Table) -> Iterator[TextFile]:
    """Yield the files of a table of any length; few rows are in memory at a time."""
    if len(table.rows) <= PAGE:
        yield table_file(key, table)
        return
    rows = table.rows if isinstance(table.rows, MadeRows) else table.in_order()
    front = replace(table, rows=rows[:PAGE])
    for number, start in enumerate(range(PAGE, len(rows), PAGE), 1):
        yield make_payload_file(f"{key}-{number}", list(rows[start : start + PAGE]))
    # last, since making a row may add to the meanings
    value = front.payload() | {"pages": {"rows": len(rows), "size": PAGE}}
    yield make_payload_file(key, value)
