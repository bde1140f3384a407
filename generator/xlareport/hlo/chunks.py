"""Reads the computations of a text: each distinct chunk once, as XLA prints it or line by line."""

from itertools import pairwise

from xlareport.hlo.header import ComputationPool, computation_name, thread_name
from xlareport.hlo.line import InstructionPool
from xlareport.hlo.model import Computation
from xlareport.hlo.recovery import LineByLine
from xlareport.runtime.errors import Problem

_LONG = 4096
"""Chunks of more bytes are known by length and hash, so that memory does not hold them twice.

Python's hash has 64 bits and a key of its own in each process: that two among a million chunks have
the same by chance has a likelihood of 3e-8, and nobody can aim at it.
"""


class _LayoutError(ValueError):
    """A computation that is not laid out as XLA prints it."""


class ChunkReader:
    """Keeps what it has read: equal chunks give the same computation."""

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
        """Add what is left, read line by line."""
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
    """Return how many lines end before what follows the pieces."""
    return sum(piece.count(b"\n") + 1 for piece in pieces)


def _not_utf_8(text: bytes, line: int) -> list[Problem]:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        place = line + text.count(b"\n", 0, error.start)
        return [Problem("", place, "not UTF-8; unknown bytes are shown as \ufffd")]
    return []
