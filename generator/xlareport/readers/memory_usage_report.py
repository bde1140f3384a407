"""Reads `-memory-usage-report.txt`: how much each memory space holds, by XLA's own words.

Sizes of rows are rounded as written (`16.0KiB`); only the totals are exact. Two generations: one
section per memory space (since 2025), one total and a list of allocations (2024).
"""

import re
import zlib

from google.protobuf.message import DecodeError
from msgspec import Struct

from xlareport.readers.lines import FileProblems, decoded_lines
from xlareport.readers.table_protos import message_class
from xlareport.runtime.errors import Problem
from xlareport.runtime.packed import decompress_bytes

_SPACE = re.compile(r"Memory Space: (\S+) \(color=(\d{1,9})\)")
_TOTAL = re.compile(r"Total bytes(?: used)?: (\d{1,18}) \([^)]*\)")
_DEFAULT_SPACE = "default"


class SpaceUsage(Struct, frozen=True):
    """The usage of a memory space."""

    name: str
    """By XLA's names, which are TPU's: a GPU's host space prints as `cmem`; empty in protos."""
    color: int
    total_bytes: int


def read_memory_report(data: bytes, path: str) -> tuple[tuple[SpaceUsage, ...], list[Problem]]:
    """Read the report; empty where it states no total."""
    reader = _Reader(FileProblems(path))
    return reader.read(data), reader.problems.all()


class _Reader:
    """Reads line by line; `_space` is the memory space under way."""

    def __init__(self, problems: FileProblems) -> None:
        self.problems = problems
        self._done: list[SpaceUsage] = []
        self._space: tuple[str, int] = (_DEFAULT_SPACE, 0)
        self._total: int | None = None

    def read(self, data: bytes) -> tuple[SpaceUsage, ...]:
        for number, line in enumerate(decoded_lines(data, self.problems), 1):
            self.line(number, line)
        self._finish()
        if not self._done:
            self.problems.add(None, "no total in this memory usage report")
        return tuple(self._done)

    def line(self, number: int, line: str) -> None:
        space, total = _SPACE.match(line), _TOTAL.match(line)
        if space:
            self._finish()
            self._space = (space[1], int(space[2]))
        elif total:
            self._total = int(total[1])
        elif line.startswith("Memory Space"):
            self.problems.add(number, f"a memory space that cannot be read: {line[:80]}")

    def _finish(self) -> None:
        if self._total is not None:
            self._done.append(SpaceUsage(*self._space, self._total))
        self._total = None


def read_memory_report_proto(
    data: bytes, path: str
) -> tuple[tuple[SpaceUsage, ...], list[Problem]]:
    """Read the report as a proto, packed or not; empty if it is truncated.

    It has the content of the text and numbers of the allocations, but no memory space names.
    """
    try:
        proto = message_class("memory_report", "MemoryUsageReportProto")()
        proto.ParseFromString(decompress_bytes(data))
    except (DecodeError, zlib.error) as error:
        return (), [Problem(path, None, f"cut off, or no memory usage report: {error}")]
    return tuple(SpaceUsage("", space.color, space.total_bytes) for space in proto.spaces), []
