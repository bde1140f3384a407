"""Reads the computations of a text: each distinct chunk once, as XLA prints it or line by line."""

import re
from itertools import pairwise

from msgspec import Struct, field

from xlareport.hlo import quoting
from xlareport.hlo.handwritten import (
    HandwrittenNames,
    find_inline,
    infer_shapes,
    lacks_opcode,
    opens_inline,
    plain_statements,
    split_line,
    without_comments,
)
from xlareport.hlo.header import ComputationPool, computation_name, thread_name
from xlareport.hlo.line import InstructionPool, LineError
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.snapshot_reading import problem_at
from xlareport.runtime.errors import Problem

_BLANK = re.compile(r"\s*+(?:#.*+)?+\Z")
_STARTS = re.compile(
    r"\s*+(?:ROOT\s++)?%?+[^\s=%(){},\"]++ = (?:\(|[a-z][a-z0-9]*+\[|[a-z][\w\-]*+\()"
)
_CLOSES_FAR_LEFT = re.compile(r"\}\s*+(?:,\s*+execution_thread=.*+|//.*+)?+\Z")
_CLOSES = re.compile(r"\s*+" + _CLOSES_FAR_LEFT.pattern)
_CONTINUES = re.compile(r"\s*+,")
_HEADER_BEGINS = re.compile(r"(?:ENTRY\s++)?%?+[^\s=(){},:\"]++\s*+(?:\(|\Z)")
_SHORT_HEADER = re.compile(r"\s*+(?:ENTRY\s++)?%?+[^\s=(){},:\"]++\s*+\{")
_MOST_NESTED = 20
"""Computations inside statements of computations; deeper ones are not read."""
_LINES_OF_HEADER = 64
"""More are no header: each line is read once more with those before it."""
_MOST_INLINE = 100
"""Computations inside one statement; further ones are not read."""
_LINES_TO_OPCODE = 4
"""Limit on lines from a statement's name to its opcode; open brackets do not count."""
_IN_HALF = (",", "=", "ROOT")
"""Endings of lines whose statement continues."""


class _Open(Struct):
    """A computation that has not been closed yet."""

    header: str
    line: int
    instructions: list[Instruction] = field(default_factory=list)
    names: HandwrittenNames = field(default_factory=HandwrittenNames)


class _Statement(Struct):
    """The lines of a statement that are read so far."""

    line: int
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    """Brackets that are open."""
    is_quoting: bool = False
    """Whether a quote is open."""
    is_inline: bool = False
    """Whether it contains a computation with statements of its own."""
    checks: int = 0
    """How often the opcode was looked for; bounded, for each takes the whole statement."""

    def add(self, line: str) -> None:
        """Add a line."""
        self.lines.append(line)
        self.is_inline = self.depth >= 0 and (self.is_inline or opens_inline(line))
        marks = [mark for _, mark in quoting.marks(f'"{line}' if self.is_quoting else line)]
        self.is_quoting = marks[-1:] == ['"']
        self.depth += sum(quoting.DEPTH.get(mark, 0) for mark in marks)

    def is_open(self) -> bool:
        """Return whether the statement continues; called once for each line."""
        if self.depth > 0 or self.is_quoting or self.lines[-1].rstrip().endswith(_IN_HALF):
            return True
        self.checks += 1
        return self.checks < _LINES_TO_OPCODE and lacks_opcode("\n".join(self.lines))


class LineByLine:
    """Feed numbered lines, then `finish`; computations and problems collect in order.

    A statement goes on over lines while its brackets are open, after a line that ends with a comma,
    and with a line that begins with one. What cannot be read becomes a problem, and the reading
    goes on with the next line.
    """

    def __init__(
        self, lines: InstructionPool, computations: ComputationPool, depth: int = 0
    ) -> None:
        self.computations: list[Computation] = []
        self.problems: list[Problem] = []
        self._by_name: dict[str, Computation] = {}
        self._lines = lines
        self._pool = computations
        self._depth = depth
        """How many statements this text is inside."""
        self._open: _Open | None = None
        self._statement: _Statement | None = None
        self._line_number = 1
        """Of the statement that is being read."""
        self._header: list[str] = []
        """The lines of a computation's header that are read so far."""

    def read(self, text: str, first: int) -> None:
        """Read a text; `first` is the number of its first line."""
        for number, line in enumerate(without_comments(text).split("\n"), first):
            for part in self._parts(line):
                if not _BLANK.match(part) and not self._goes_on(part):
                    self._end_statement()
                    self._line(number, part)

    def _parts(self, line: str) -> list[str]:
        """Split a line with more than one statement, a header or an end."""
        header = None if self._open else _SHORT_HEADER.match(line)
        rest = line[header.end() :] if header else line
        depth = self._statement.depth if self._statement else 0
        is_end = _CLOSES.match(rest) or not (header or self._open)
        parts = [rest] if is_end else split_line(rest, depth)
        return [header[0], *parts] if header else parts

    def finish(self) -> None:
        """Report open computations and close them."""
        self._end_statement()
        if self._open is not None:
            self._complain(self._open.line, self._open.header, 0, "computation is not closed")
            self._close("")

    def _goes_on(self, line: str) -> bool:
        """Add the line to the statement before it, if it belongs there."""
        statement = self._statement
        if statement is None or (_ends_all(line) and not statement.is_inline):
            return False
        if not statement.is_open() and not _CONTINUES.match(line):
            return False
        statement.add(line)
        return True

    def _line(self, number: int, line: str) -> None:
        if self._open is None:
            self._outside(number, line)
        elif _CLOSES.match(line):
            self._close(line)
        elif computation_name(line) and not _STARTS.match(line):
            self._complain(number, line, 0, "the computation before is not closed")
            self._close("")
            self._outside(number, line)
        else:
            self._statement = _Statement(number)
            self._statement.add(line)

    def _outside(self, number: int, line: str) -> None:
        """Read a header; one of several lines ends with the line that opens the computation."""
        header = " ".join([*self._header, line.strip()])
        if computation_name(header) is not None:
            self._open = _Open(header, number)
        elif _HEADER_BEGINS.match(header) and len(self._header) < _LINES_OF_HEADER:
            self._header.append(line.strip())
            return
        else:
            self._complain(number, line, 0, "expected a computation")
        self._header.clear()

    def _end_statement(self) -> None:
        """Parse the statement whose lines are complete."""
        statement, self._statement = self._statement, None
        if statement is None or self._open is None:
            return
        text = "\n".join(statement.lines)
        self._line_number = statement.line
        try:
            self._open.instructions += self._instructions(text.strip(), self._open.names)
        except LineError as error:
            place = _indentation(text) + error.place
            self._complain(statement.line, text, place, error.message)

    def _instructions(self, text: str, names: HandwrittenNames) -> list[Instruction]:
        """Return the instructions of a statement: one, as a rule. Raises LineError."""
        text = self._without_inline(text)
        try:
            return [self._lines.statement(text)]
        except LineError:
            plain = plain_statements(text, names)
            if plain is None:
                raise
            return [self._lines.statement(statement) for statement in plain]

    def _without_inline(self, text: str) -> str:
        """Read the computations inside a statement; return it with their names in their place."""
        for _ in range(_MOST_INLINE if self._depth < _MOST_NESTED else 0):
            inline = find_inline(text)
            if inline is None:
                break
            name = f"{inline.attribute}.inline.{self._line_number}.{len(self.computations)}"
            reader = LineByLine(self._lines, self._pool, self._depth + 1)
            reader.read(f"{name} {{\n{inline.body}\n}}", self._line_number)
            reader.finish()
            self._add(*reader.computations)
            self.problems += reader.problems
            text = f"{text[: inline.start]}%{name}{text[inline.end :]}"
        return text

    def _close(self, trailer: str) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            instructions = infer_shapes(opened.instructions, self._by_name)
            self._add(self._pool.get(opened.header, instructions, thread_name(trailer)))

    def _add(self, *computations: Computation) -> None:
        self.computations += computations
        self._by_name |= {computation.name: computation for computation in computations}

    def _complain(self, line: int, text: str, place: int, message: str) -> None:
        self.problems.append(problem_at(line, text, place, message))


def _ends_all(line: str) -> bool:
    """Whether a line cannot belong to the statement before it."""
    starts = _STARTS.match(line) or _CLOSES_FAR_LEFT.match(line)
    return starts is not None or computation_name(line) is not None


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())


_LONG = 4096
"""Chunks of more bytes are known by length and hash, so that memory does not hold them twice.

Python's hash has 64 bits and a key of its own in each process: that two among a million chunks have
the same by chance has a likelihood of 3e-8, and nobody can aim at it.
"""


class _LayoutError(ValueError):
    """A computation that is not laid out as XLA prints it."""


class ChunkReader:
    """Reads chunks with a cache: equal chunks give the same computation."""

    def __init__(self) -> None:
        self._known: dict[bytes | tuple[int, int], Computation] = {}
        self._computations = ComputationPool()
        self._lines = InstructionPool()

    def read(self, body: bytes, first_line: int) -> tuple[list[Computation], list[Problem]]:
        """Read all computations of a text; `first_line` is the number of its first line."""
        pieces = body.split(b"\n}")
        done: list[Computation] = []
        # Each piece but the first begins with what follows the brace before it on its line.
        for number, (piece, following) in enumerate(pairwise(pieces)):
            try:
                computation = self._chunk(_without_trailer(piece) if number else piece)
            except ValueError:
                return self._slowly(done, pieces[number:], first_line + _lines(pieces[:number]))
            done.append(self._on_thread(computation, _trailer(following)))
        if len(pieces) == 1 or _without_trailer(pieces[-1]).strip():
            return self._slowly(done, pieces[-1:], first_line + _lines(pieces[:-1]))
        return done, []

    def _slowly(
        self, done: list[Computation], pieces: list[bytes], line: int
    ) -> tuple[list[Computation], list[Problem]]:
        """Add the remaining computations, read line by line."""
        reader = LineByLine(self._lines, self._computations)
        rest = b"\n}".join([_without_trailer(pieces[0]) if done else pieces[0], *pieces[1:]])
        text = rest.decode("utf-8", "replace")
        reader.read(text, line)
        reader.finish()
        problems = _not_utf_8(rest, line) + reader.problems
        return done + reader.computations, problems

    def _on_thread(self, computation: Computation, trailer: bytes) -> Computation:
        thread = thread_name(trailer.decode("utf-8", "replace")) if trailer else "main"
        if thread == "main":
            return computation
        return self._computations.get(computation.header + " {", computation.instructions, thread)

    def _chunk(self, chunk: bytes) -> Computation:
        """Read a chunk as XLA prints it; raises a ValueError where it is anything else."""
        key = chunk if len(chunk) < _LONG else (len(chunk), hash(chunk))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._parse(chunk.decode("utf-8").lstrip("\n"))
        return known

    def _parse(self, text: str) -> Computation:
        header, *lines = text.split("\n  ")
        if "\n" in header or computation_name(header) is None:
            raise _LayoutError
        return self._computations.get(header, tuple(map(self._lines.__getitem__, lines)))


def _trailer(piece: bytes) -> bytes:
    return b"" if piece[:1] == b"\n" else piece[: piece.find(b"\n")].strip()


def _without_trailer(piece: bytes) -> bytes:
    return piece if piece[:1] == b"\n" else piece[piece.find(b"\n") :]


def _lines(pieces: list[bytes]) -> int:
    """Return the number of line ends before the text after the pieces."""
    return sum(piece.count(b"\n") + 1 for piece in pieces)


def _not_utf_8(text: bytes, line: int) -> list[Problem]:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        place = line + text.count(b"\n", 0, error.start)
        return [Problem("", place, "not UTF-8; unknown bytes are shown as \ufffd")]
    return []
