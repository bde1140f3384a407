"""Reads the utilization of the core's units by bundle: `*_hlo-static-per-bundle-utilization`.

There is one row for each bundle, in order. The header has the units and their capacity; the file
spells it `CAPACTIY`.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from xlareport.runtime.errors import Problem

_HEADER = re.compile(
    rb"== CAPAC\w{2,6}:[^\n]{0,100}\n([^\n]{1,2000})\n([^\n]{1,2000})\n== UTIL\w{0,20}:"
)
_MOST_UNITS = 64
_MOST_PERCENT = 255


class Utilization(Struct, frozen=True):
    """The use of each unit by every bundle."""

    units: tuple[str, ...]
    """In the order of the file, as in `MXU`, `VLOAD:FILL`."""
    capacity: Mapping[str, int]
    columns: Mapping[str, bytes]
    """By unit, a byte for each bundle."""
    is_whole: bool = True
    """Whether every row was readable."""

    @property
    def rows(self) -> int:
        """The number of bundles."""
        return len(next(iter(self.columns.values()), ()))

    def used(self, unit: str) -> int | None:
        """Return the sum of a unit's column; None for a unit that the file does not have."""
        column = self.columns.get(unit)
        return None if column is None else sum(column)


def read_utilization(data: bytes, path: str) -> tuple[Utilization | None, list[Problem]]:
    """Read a table up to the first row that is broken; None where it has no capacities."""
    begin = data[:20_000].find(b"== CAPAC")
    header = _HEADER.match(data, begin) if begin >= 0 else None
    units = _names(header[1]) if header else ()
    capacity = _percentages(header[2].split(), len(units)) if header else None
    if header is None or not units or capacity is None:
        return None, [Problem(path, None, "The capacities of the units are missing.")]
    rows, broken = _read_rows(data[header.end() :].split(b"\n")[1:], len(units))
    table = Utilization(
        units,
        capacity=dict(zip(units, capacity, strict=True)),
        columns={unit: rows[place :: len(units)] for place, unit in enumerate(units)},
        is_whole=broken is None,
    )
    if broken is None:
        return table, []
    line = data.count(b"\n", 0, header.end()) + 2 + broken
    message = f"It is no row of {len(units)} numbers; the rows before it are read."
    return table, [Problem(path, line, message)]


def _read_rows(lines: list[bytes], count: int) -> tuple[bytes, int | None]:
    """Return the numbers row by row, and the place of the first broken row, None if none is."""
    if lines and not lines[-1].strip():
        lines.pop()
    parsed: dict[bytes, bytes] = {}  # few rows differ
    rows: list[bytes] = []
    for place, line in enumerate(lines):
        row = parsed.get(line)
        if row is None:
            numbers = _percentages(line.split(), count)
            if numbers is None:
                return b"".join(rows), place
            row = parsed[line] = bytes(numbers)
        rows.append(row)
    return b"".join(rows), None


def _percentages(fields: list[bytes], count: int) -> list[int] | None:
    if len(fields) != count or not all(field.isdigit() and len(field) <= 3 for field in fields):
        return None
    row = [int(field) for field in fields]
    return row if max(row) <= _MOST_PERCENT else None


def _names(header: bytes) -> tuple[str, ...]:
    names = tuple(name.strip() for name in header.decode("ascii", "replace").split(","))
    return names if len(set(names)) == len(names) <= _MOST_UNITS and all(names) else ()
