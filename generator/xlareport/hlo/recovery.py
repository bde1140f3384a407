"""Reads computations line by line: unusual layouts, statements over several lines, broken texts.

A statement goes on over lines while its brackets are open. What cannot be read becomes a problem,
and the reading goes on with the next line.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xlareport.hlo import quoting
from xlareport.hlo.header import ComputationPool, computation_name, thread_name
from xlareport.hlo.line import InstructionPool, LineError
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.trouble import trouble

if TYPE_CHECKING:
    from xlareport.runtime.errors import Problem

_COMMENT = re.compile(r"\s*+(?://.*+|#.*+)?+\Z")
_STARTS = re.compile(r"\s*+(?:ROOT\s++)?+%?+[^\s=%(){},\"]++ = ")
_CLOSES_FAR_LEFT = re.compile(r"\}\s*+(?:,\s*+execution_thread=.*+|//.*+)?+\Z")
_CLOSES = re.compile(r"\s*+" + _CLOSES_FAR_LEFT.pattern)


@dataclass(slots=True)
class _Open:
    """A computation whose closing brace has not been seen."""

    header: str
    line: int
    instructions: list[Instruction] = field(default_factory=list)


@dataclass(slots=True)
class _Unfinished:
    """A statement whose brackets are open."""

    line: int
    depth: int
    lines: list[str]
    error: LineError


class LineByLine:
    """Feed numbered lines, then `finish`; computations and problems collect in order."""

    def __init__(self, lines: InstructionPool, computations: ComputationPool) -> None:
        self.computations: list[Computation] = []
        self.problems: list[Problem] = []
        self._lines = lines
        self._pool = computations
        self._open: _Open | None = None
        self._unfinished: _Unfinished | None = None

    def read(self, lines: Iterable[str], first: int) -> None:
        """Read lines without their breaks; `first` is the number of the first one."""
        for number, line in enumerate(lines, first):
            if not self._goes_on(line):
                self._line(number, line)

    def finish(self) -> None:
        """Say what was left open, and close it."""
        self._give_up()
        if self._open is not None:
            self._complain(self._open.line, self._open.header, 0, "computation is not closed")
            self._close("")

    def _goes_on(self, line: str) -> bool:
        """Add the line to the statement that is open, if it belongs there."""
        statement = self._unfinished
        if statement is None:
            return False
        if _STARTS.match(line) or _CLOSES_FAR_LEFT.match(line) or computation_name(line):
            self._give_up()
            return False
        statement.lines.append(line)
        statement.depth += _depth(line)
        if statement.depth <= 0:
            self._unfinished = None
            self._statement(statement.line, "\n".join(statement.lines))
        return True

    def _line(self, number: int, line: str) -> None:
        if _COMMENT.match(line):
            return
        if self._open is None:
            self._outside(number, line)
        elif _CLOSES.match(line):
            self._close(line)
        elif computation_name(line) and not _STARTS.match(line):
            self._complain(number, line, 0, "the computation before is not closed")
            self._close("")
            self._outside(number, line)
        else:
            self._inside(number, line)

    def _outside(self, number: int, line: str) -> None:
        if computation_name(line) is None:
            self._complain(number, line, 0, "expected a computation")
        else:
            self._open = _Open(line.strip(), number)

    def _inside(self, number: int, line: str) -> None:
        try:
            self._keep(self._lines[line.strip()])
        except LineError as error:
            depth = _depth(line)
            if depth > 0:
                self._unfinished = _Unfinished(number, depth, [line], error)
            else:
                self._complain(number, line, _indentation(line) + error.place, error.message)

    def _statement(self, number: int, text: str) -> None:
        try:
            self._keep(self._lines.statement(text.strip()))
        except LineError as error:
            self._complain(number, text, _indentation(text) + error.place, error.message)

    def _keep(self, instruction: Instruction) -> None:
        if self._open is not None:
            self._open.instructions.append(instruction)

    def _give_up(self) -> None:
        statement, self._unfinished = self._unfinished, None
        if statement is not None:
            line, error = statement.lines[0], statement.error
            self._complain(statement.line, line, _indentation(line) + error.place, error.message)

    def _close(self, trailer: str) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            instructions = tuple(opened.instructions)
            made = self._pool.get(opened.header, instructions, thread_name(trailer))
            self.computations.append(made)

    def _complain(self, line: int, text: str, place: int, message: str) -> None:
        self.problems.append(trouble(line, text, place, message))


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())


def _depth(line: str) -> int:
    """Return how many brackets a line opens; 0 where a quote is open, for none goes on."""
    depth = 0
    for _, mark in quoting.marks(line):
        if mark == '"':
            return 0
        depth += quoting.DEPTH.get(mark, 0)
    return depth
