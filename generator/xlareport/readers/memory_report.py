"""Reads `-memory-usage-report.txt`: how much each memory space holds, by XLA's own words.

Sizes of rows are rounded as written (`16.0KiB`); only the totals are exact. Two generations: one
section per memory space (since 2025), one total and a list of allocations (2024).
"""

import re
import zlib
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError

from xlareport.readers.lines import Troubles, decoded_lines
from xlareport.readers.table_protos import message_class
from xlareport.runtime.errors import Problem
from xlareport.runtime.packed import decompress_bytes

_SPACE = re.compile(r"Memory Space: (\S+) \(color=(\d{1,9})\)")
_TOTAL = re.compile(r"Total bytes(?: used)?: (\d{1,18}) \([^)]*\)")
_ROW = re.compile(
    r"\s+[\d.]{1,20}[KMGTP]?i?B\( *(?:-?nan|\d{1,3})%\);"
    r" *(?P<size>[\d.]{1,20}[KMGTP]?i?B); *(?P<offset>\d{1,18});"
    r" *(?P<values>\d{1,18}); (?P<shapes>.*)"
)
_REST = re.compile(r"\s+The rest (\d{1,18}) ")
_DEFAULT_SPACE = "default"


@dataclass(frozen=True, slots=True)
class ReportRow:
    """Values that lie at one place of an allocation, one after the other."""

    size: str
    """The largest of them, rounded, as written."""
    offset: int
    """Bytes from the beginning of the allocation."""
    value_count: int
    shapes: str
    """As written, with how often before each shape that is there more than once."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One allocation of a memory space, its largest rows first."""

    rows: tuple[ReportRow, ...]
    left_out: int
    """Values that the report left out, being small."""


@dataclass(frozen=True, slots=True)
class SpaceUsage:
    """One memory space."""

    name: str
    """By XLA's names, which are TPU's: a GPU's host space prints as `cmem`; empty in protos."""
    color: int
    total_bytes: int
    tables: tuple[ReportTable, ...]
    """One for each allocation, largest first; empty in reports of 2024."""


def read_memory_report(data: bytes, path: str) -> tuple[tuple[SpaceUsage, ...], list[Problem]]:
    """Read the report; empty where it states no total."""
    reader = _Reader(Troubles(path))
    return reader.read(data), reader.troubles.problems()


def report_tables(text: str) -> tuple[ReportTable, ...]:
    """Return the tables in a part of a report that states no total."""
    reader = _Reader(Troubles(""))
    for number, line in enumerate(text.split("\n"), 1):
        reader.line(number, line)
    return reader.tables()


class _Reader:
    """Reads line by line; `_space` is the memory space under way."""

    def __init__(self, troubles: Troubles) -> None:
        self.troubles = troubles
        self._done: list[SpaceUsage] = []
        self._space: tuple[str, int] = (_DEFAULT_SPACE, 0)
        self._total: int | None = None
        self._tables: list[tuple[list[ReportRow], list[int]]] = []

    def read(self, data: bytes) -> tuple[SpaceUsage, ...]:
        for number, line in enumerate(decoded_lines(data, self.troubles), 1):
            self.line(number, line)
        self._finish()
        if not self._done:
            self.troubles.add(None, "no total in this memory usage report")
        return tuple(self._done)

    def line(self, number: int, line: str) -> None:
        space, total = _SPACE.match(line), _TOTAL.match(line)
        if space:
            self._finish()
            self._space = (space[1], int(space[2]))
        elif total:
            self._total = int(total[1])
        elif line.startswith("Memory Space"):
            self.troubles.add(number, f"a memory space that cannot be read: {line[:80]}")
        elif line.lstrip().startswith("cumulative_size;") and "offset" in line:
            self._tables.append(([], []))
        elif self._tables:
            self._row(line)

    def _row(self, line: str) -> None:
        rows, left_out = self._tables[-1]
        row, rest = _ROW.fullmatch(line), _REST.match(line)
        if row:
            rows.append(
                ReportRow(row["size"], int(row["offset"]), int(row["values"]), row["shapes"])
            )
        elif rest:
            left_out.append(int(rest[1]))

    def tables(self) -> tuple[ReportTable, ...]:
        return tuple(ReportTable(tuple(rows), sum(rest)) for rows, rest in self._tables)

    def _finish(self) -> None:
        if self._total is not None:
            self._done.append(SpaceUsage(*self._space, self._total, self.tables()))
        self._total, self._tables = None, []


def read_memory_report_proto(
    data: bytes, path: str
) -> tuple[tuple[SpaceUsage, ...], list[Problem]]:
    """Read the report as a proto, packed or not; empty where it is cut off.

    It says what the text says, and numbers the allocations; names of memory spaces it has none.
    """
    try:
        proto = message_class("memory_report", "MemoryUsageReportProto")()
        proto.ParseFromString(decompress_bytes(data))
    except (DecodeError, zlib.error) as error:
        return (), [Problem(path, None, f"cut off, or no memory usage report: {error}")]
    return tuple(
        SpaceUsage("", space.color, space.total_bytes, _tables(space)) for space in proto.spaces
    ), []


def _tables(space: Any) -> tuple[ReportTable, ...]:
    texts = (allocation.hlo_text.decode("utf-8", "replace") for allocation in space.allocations)
    return tuple(table for text in texts for table in report_tables(text))
