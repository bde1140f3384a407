"""Reads HLO text; nothing is parsed twice.

A file seen before is known by its hash, a computation by its bytes, an instruction by its line. So
a dump of every pass costs little more than its distinct lines. What the quick way cannot read goes
line by line (`recovery`), through the same pools.
"""

from xlareport.hlo.chunks import ChunkReader
from xlareport.hlo.header import ModuleHeader, find_first_computation, find_module
from xlareport.hlo.model import HloModule
from xlareport.hlo.reading import SnapshotReader, SnapshotReading, limited
from xlareport.hlo.tables import Tables
from xlareport.hlo.trouble import trouble
from xlareport.runtime.errors import Problem


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
        problems += [trouble(line + n, text, 0, "unknown text") for n, text in tables.unknown]
        problems += broken
        if not any(computation.is_entry for computation in computations):
            problems.append(Problem("", None, "no computation is marked ENTRY: a part of a text?"))
        module = HloModule(header.name, header.attributes_text, tuple(computations), tables.frames)
        return SnapshotReading(module, limited(problems))

    def _read_tables(self, text: bytes) -> Tables:
        known = self._tables.get(text)
        if known is None:
            lines = text.decode("utf-8", "replace").split("\n")
            known = self._tables[text] = Tables(enumerate(lines))
        return known


def _open_header(data: bytes, header: ModuleHeader) -> Problem:
    line = data[header.start : header.end].decode("utf-8", "replace")
    number = 1 + data.count(b"\n", 0, header.start)
    return trouble(number, line, len(line), "the brackets of the header are not closed")
