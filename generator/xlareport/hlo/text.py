"""Reads HLO text; nothing is parsed twice.

A file seen before is known by its hash, a computation by its bytes, an instruction by its line. So
a dump of every pass costs little more than its distinct lines. Text that the fast path cannot read
is read line by line (`hlo.chunks`), with the same caches.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from xlareport.hlo import quoting
from xlareport.hlo.chunks import ChunkReader
from xlareport.hlo.header import ModuleHeader, find_first_computation, find_module
from xlareport.hlo.model import HloModule, StackFrame
from xlareport.hlo.snapshot_reading import (
    SnapshotReader,
    SnapshotReading,
    first_problems,
    problem_at,
)
from xlareport.runtime.errors import Problem

_ENTRY = re.compile(rf"\s*+(\d{{1,18}})\s++(?:({quoting.STRING})|\{{([^{{}}]*+)\}})\s*+", re.DOTALL)
_FIELD = re.compile(r"\b([a-z_]++)=(\d{1,18})\b")
_BLANK = re.compile(r"\s*+(?://.*+)?+\Z")
_TITLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


class Tables:
    """The content of the four tables, by their ids."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        """Read numbered lines; those that no table explains are kept in `unknown`."""
        self.unknown: list[tuple[int, str]] = []
        self._texts: dict[str, dict[int, str]] = {title: {} for title in _TITLES[:2]}
        self._rows: dict[str, dict[int, dict[str, int]]] = {title: {} for title in _TITLES[2:]}
        title = ""
        for number, line in lines:
            if line.strip() in _TITLES:
                title = line.strip()
            elif not _BLANK.match(line) and not self._entry(title, line):
                self.unknown.append((number, line))

    def _entry(self, title: str, line: str) -> bool:
        match = _ENTRY.fullmatch(line)
        if match is None:
            return False
        number, text, fields = int(match[1]), match[2], match[3]
        if text is not None and title in self._texts:
            self._texts[title][number] = quoting.unescape(text[1:-1])
            return True
        if fields is not None and title in self._rows:
            self._rows[title][number] = {name: int(n) for name, n in _FIELD.findall(fields)}
            return True
        return False

    @cached_property
    def frames(self) -> Mapping[int, StackFrame]:
        """The tables joined: frames by id, without those that name no known place."""
        frames = {number: self._frame(row) for number, row in self._rows["StackFrames"].items()}
        return {number: frame for number, frame in frames.items() if frame is not None}

    def _frame(self, row: Mapping[str, int]) -> StackFrame | None:
        place = self._rows["FileLocations"].get(row.get("file_location_id", 0))
        if place is None or "line" not in place:
            return None
        # The printed parent is the real one plus one: 1 says that there is none.
        parent = row.get("parent_frame_id", 1) - 1
        return StackFrame(
            file=self._texts["FileNames"].get(place.get("file_name_id", 0), ""),
            function=self._texts["FunctionNames"].get(place.get("function_name_id", 0), ""),
            line=place["line"],
            column=place.get("column") or None,
            parent=parent if parent > 0 else None,
        )


class TextReader(SnapshotReader):
    """Reads texts that belong together: equal files, computations and lines are one object."""

    def __init__(self) -> None:
        super().__init__()
        self._tables: dict[bytes, Tables] = {}
        self._chunks = ChunkReader()

    def _read(self, data: bytes) -> SnapshotReading:
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        header = find_module(data)
        if header is None:
            return SnapshotReading(None, (Problem("", 1, "no line begins with HloModule"),))
        problems = [] if header.is_closed else [_open_header(data, header)]
        first = find_first_computation(data, header.end)
        tables = self._read_tables(data[header.end : first])
        line = 1 + data.count(b"\n", 0, first)
        computations, broken = self._chunks.read(data[first:], line)
        line = 1 + data.count(b"\n", 0, header.end)
        problems += [problem_at(line + n, text, 0, "unknown text") for n, text in tables.unknown]
        problems += broken
        if not any(computation.is_entry for computation in computations):
            problems.append(Problem("", None, "no computation is marked ENTRY: a part of a text?"))
        module = HloModule(header.name, header.attributes_text, tuple(computations), tables.frames)
        return SnapshotReading(module, first_problems(problems))

    def _read_tables(self, text: bytes) -> Tables:
        known = self._tables.get(text)
        if known is None:
            lines = text.decode("utf-8", "replace").split("\n")
            known = self._tables[text] = Tables(enumerate(lines))
        return known


def _open_header(data: bytes, header: ModuleHeader) -> Problem:
    line = data[header.start : header.end].decode("utf-8", "replace")
    number = 1 + data.count(b"\n", 0, header.start)
    return problem_at(number, line, len(line), "the brackets of the header are not closed")
