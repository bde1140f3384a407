"""Reads `-buffer-assignment-values.txt`: where each value goes and what uses it.

Until April 2026 the same was part of the buffer assignment, between the allocations and the live
ranges. Files of around 2024 lack a line break: a value then begins at the end of the line before
it.
"""

import re

from msgspec import Struct, field

from xlareport.readers.lines import FileProblems, decoded_lines, numbers_in
from xlareport.runtime.errors import Problem

_HEAD = re.compile(
    r"(?P<id>\d{1,18}) (?P<name>[^\s{<>]+)(?:\{(?P<index>[0-9, ]*)\})?(?: \(phi\))?"
    r" @\d{1,9}>"
)
_POSITION = re.compile(r"  (?P<name>[^\s{,]+)(?: \{(?P<index>[0-9, ]*)\})?")
_USE = re.compile(r"  (?P<name>[^\s{,]+), operand (?P<operand>\d{1,9})(?: \{[0-9, ]*\})?")
_BEGIN, _END = "Used values:", "HloLiveRange"
_SECTIONS = {" positions:": "positions", " uses:": "uses"}


class Use(Struct, frozen=True):
    """An operand through which a value is used."""

    instruction: str
    operand: int


class UsedValue(Struct):
    """A value with every place at which it can be found and everything that reads it."""

    id: int
    instruction: str
    index: tuple[int, ...]
    """The place in the instruction's tuple; empty for the whole."""
    positions: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    """(instruction, place in its tuple), the value's own first."""
    uses: list[Use] = field(default_factory=list)


def read_buffer_values(data: bytes, path: str) -> tuple[tuple[UsedValue, ...], list[Problem]]:
    """Read the values; empty where the text has none, which an old file need not."""
    reader = _Reader(FileProblems(path))
    lines = decoded_lines(data, reader.problems)
    begin = next((n for n, line in enumerate(lines) if line.startswith(_BEGIN)), len(lines))
    for number, line in enumerate(lines[begin + 1 :], begin + 2):
        if line.startswith(_END):
            break
        reader.line(number, line)
    return tuple(reader.values), reader.problems.all()


class _Reader:
    """Reads line by line: a value, its positions, its uses."""

    def __init__(self, problems: FileProblems) -> None:
        self.problems = problems
        self.values: list[UsedValue] = []
        self._section = ""

    def line(self, number: int, line: str) -> None:
        """Read one line; a line that is none of the known ones is a problem."""
        if line.startswith(("<", " from instruction:")):
            self._section = ""
            self._head(number, line)
        elif line in _SECTIONS:
            self._section = _SECTIONS[line]
        elif line.startswith("  ") and self._section and self.values:
            self._entry(number, line)
        elif self._section and line.strip():
            self.problems.add(number, f"neither a value nor a use: {line.strip()[:80]}")

    def _head(self, number: int, line: str) -> None:
        match = _HEAD.fullmatch(line.rstrip().rpartition("<")[2])
        if match:
            index = numbers_in(match["index"] or "")
            self.values.append(UsedValue(int(match["id"]), match["name"], index))
        elif line.startswith("<"):
            self.problems.add(number, f"a value that cannot be read: {line[:80]}")

    def _entry(self, number: int, line: str) -> None:
        value, place, use = self.values[-1], _POSITION.fullmatch(line), _USE.fullmatch(line)
        if self._section == "positions" and place:
            value.positions.append((place["name"], numbers_in(place["index"] or "")))
        elif self._section == "uses" and use:
            value.uses.append(Use(use["name"], int(use["operand"])))
        elif line.strip() != "(none)":
            self.problems.add(number, f"not understood under {self._section}: {line.strip()[:80]}")
