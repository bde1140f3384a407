"""Tables as payloads: what the page script draws, sorts and filters."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from xlareport.pages import navigation
from xlareport.pages.token_views import Meaning, NameCell
from xlareport.storage.payloads import Payload, make_payload, make_payload_file

COLUMNS = "columns"
"""The payload key of the columns of the tables of all modules, by their names."""

_FIRST_ROWS, _FIRST_COLUMNS = 10, 7
"""Of a table before its script runs."""
Cell = str | int | float | list[str] | NameCell | None
"""A plain value; `[text, address]` in a link column, `[text, class]` in a chip column."""

_NUMBERS = ("int", "bytes", "flops", "float", "percent", "precise")
"""Kinds of numbers; `precise` is a percentage of three digits."""

T = TypeVar("T")


class Column(Struct, frozen=True):
    """A column: its heading, how its cells read, and a few words of help."""

    title: str
    kind: str = "text"
    """`text`, `sentence` (shown whole, in several lines), `code`, `name`, `link` or `chip`, or
    one of the kinds of numbers."""
    help: str = ""
    of: str = ""
    """The kind of names in its cells, one of `words.js`; their meaning is shown on hover."""

    @property
    def is_number(self) -> bool:
        """Whether its cells are numbers, which are aligned right."""
        return self.kind in _NUMBERS


class Table(Struct, frozen=True):
    """A table for the page script, or for the template macro `tables.static`."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    """In any order in a list, else in the order of `sort`."""
    sort: tuple[int, str] | None = None
    """The column to sort by at first, and `asc` or `desc`."""
    empty: str = "Nothing to show."
    meanings: Sequence[Meaning] = ()
    """The meanings of name parts, see `NameCells`."""

    def first_rows(self) -> "Table":
        """Return its first rows, which are in the page itself for readers without scripts."""
        rows = self.in_order()[:_FIRST_ROWS]
        return Table(self.columns[:_FIRST_COLUMNS], [row[:_FIRST_COLUMNS] for row in rows])

    def in_order(self) -> Sequence[Sequence[Cell]]:
        """Return the rows in the initial order of the table."""
        if self.sort is None or not isinstance(self.rows, list):
            return self.rows
        place, order = self.sort
        return sorted(self.rows, key=lambda row: _sorted_by(row[place]), reverse=order == "desc")

    def heads(self) -> list[dict[str, str]]:
        """Return the columns as they go into a payload."""
        columns = map(to_builtins, self.columns)
        return [{name: text for name, text in column.items() if text} for column in columns]

    def payload(self, columns: str = "") -> dict[str, Any]:
        """Return the value that goes into the payload; `columns` names those in another one."""
        value: dict[str, Any] = {
            "columns": columns or self.heads(),
            "rows": self.rows if isinstance(self.rows, list) else list(self.rows),
            "empty": self.empty,
        }
        if self.sort is not None:
            value["sort"] = list(self.sort)
        if self.meanings:
            value["meanings"] = list(self.meanings)
        return value


def tabulate(
    rows: Iterable[T],
    columns: Mapping[Column, Callable[[T], Cell]],
    sort: tuple[int, str] | None = None,
    empty: str = "Nothing to show.",
    meanings: Sequence[Meaning] = (),
) -> Table:
    """Return the table of some rows; each column has what it shows of a row."""
    cells = [[show(row) for show in columns.values()] for row in rows]
    return Table(tuple(columns), cells, sort, empty, meanings)


def _sorted_by(cell: Cell) -> tuple[bool, float, str]:
    """Return the sort key of a cell: numbers first, by size."""
    if isinstance(cell, int | float):
        return False, cell, ""
    return True, 0.0, str(cell[0] if isinstance(cell, list) and cell else cell or "")


class PartPage(Struct, frozen=True):
    """What all parts of a module's page have."""

    tables: Mapping[str, Table]
    """By their names, which end the keys of their payloads; those that are empty are not there."""


def lean_payloads(slug: str, tables: Mapping[str, Table]) -> Iterator[Payload]:
    """Yield the payload of each table of a module, and its columns, with content-based keys."""
    for name, table in tables.items():
        heads = make_payload(COLUMNS, table.heads())
        columns = blake2b(heads.body.encode(), digest_size=8).hexdigest()
        yield make_payload(navigation.module_key(slug, name), table.payload(columns))
        yield replace(heads, key=f"{COLUMNS}/{columns}")


def table_file(key: str, table: Table) -> tuple[str, str]:
    """Return the file of a table: its path in the site, and its payload."""
    return make_payload_file(key, table.payload())
