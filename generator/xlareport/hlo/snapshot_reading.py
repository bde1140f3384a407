"""Common code of all snapshot readers: equal files are read once, problems name their file."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.hlo.header import ComputationPool
from xlareport.hlo.line import InstructionPool, LineError
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.errors import Problem
from xlareport.runtime.garbage_collection import no_collections


class NamesOnce:
    """Gives everything a name of its own; computations that are shared remain shared."""

    def __init__(self) -> None:
        self._known: dict[Computation, Computation] = {}
        self._renamed: dict[tuple[Computation, str], Computation] = {}

    def apply(self, module: HloModule) -> tuple[HloModule, list[Problem]]:
        """Return the module, with repeated names made unique: the second `x` becomes `x~2`."""
        computations = [self._with_own_names(computation) for computation in module.computations]
        problems = [
            _problem(other.name, f"in %{new.name}")
            for old, new in zip(module.computations, computations, strict=True)
            if old is not new
            for instruction, other in zip(old.instructions, new.instructions, strict=True)
            if instruction is not other
        ]
        names = _own_names([computation.name for computation in computations])
        for place, name in names.items():
            computations[place] = self._renamed.setdefault(
                (computations[place], name), replace(computations[place], name=name)
            )
            problems.append(_problem(name, "among the computations"))
        return (replace(module, computations=tuple(computations)) if problems else module), problems

    def _with_own_names(self, computation: Computation) -> Computation:
        known = self._known.get(computation)
        if known is None:
            names = _own_names([instruction.name for instruction in computation.instructions])
            known = _renamed(computation, names) if names else computation
            self._known[computation] = known
        return known


def _renamed(computation: Computation, names: dict[int, str]) -> Computation:
    instructions = (
        replace(instruction, name=names[place]) if place in names else instruction
        for place, instruction in enumerate(computation.instructions)
    )
    return replace(computation, instructions=tuple(instructions))


def _problem(name: str, where: str) -> Problem:
    first = name.rpartition("~")[0]
    return Problem("", None, f"%{first} is given more than once {where}; one is %{name} here")


def _own_names(names: Sequence[str]) -> dict[int, str]:
    """Return `x~2`, `x~3` by the places of names that came before; empty where none did."""
    taken = set(names)
    if len(taken) == len(names):
        return {}
    result: dict[int, str] = {}
    seen = dict.fromkeys(taken, 0)
    for place, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            while f"{name}~{seen[name]}" in taken:
                seen[name] += 1
            result[place] = f"{name}~{seen[name]}"
    return result


_BEFORE, _AFTER = 50, 30
"""How many characters a drawing shows on each side of the place."""


def problem_at(line: int, text: str, place: int, message: str) -> Problem:
    """Return a problem without a path; `place` counts characters of `text` from 0.

    `text` may go on over several lines; the problem points to the line that holds the place.
    """
    place = min(place, len(text))
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    shown = text[start : end if end >= 0 else len(text)]
    column = place - start
    number = line + text.count("\n", 0, place)
    return Problem("", number, message, column + 1, draw(shown, column))


def unreadable_line(line: str, error: LineError) -> Problem:
    """Return the problem of an instruction that was put into a line, which no file has."""
    return replace(problem_at(1, line, error.place, error.message), line=None, column=None)


def draw(text: str, place: int) -> str:
    """Return the text about a place and, below it, a mark that points at it."""
    start = max(0, place - _BEFORE)
    cut = text[start : place + _AFTER].replace("\t", " ")
    dots = "..." if start else ""
    more = "..." if place + _AFTER < len(text) else ""
    return f"{dots}{cut}{more}\n{' ' * (len(dots) + place - start)}^"


MAX_PROBLEMS = 100
"""Limit on listed problems of one file; the last one has the number of the rest."""


class SnapshotReading(Struct, frozen=True):
    """The result of reading a file; its problems have no path, as equal files may have others."""

    module: HloModule | None
    problems: tuple[Problem, ...] = ()


_EMPTY = SnapshotReading(None, (Problem("", None, "the file is empty"),))


class SnapshotReader(ABC):
    """Reads related files; equal parts become one object."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        # Python's hash has 64 bits and a key of its own in each process: chance does not find two
        # files with the same, and nobody can aim at it.
        self._known: dict[tuple[int, int], SnapshotReading] = {}
        self._last = (b"", _EMPTY)
        self._names = NamesOnce()

    def read(self, data: bytes, path: str) -> HloModule | None:
        """Return the module in a file; None if there is none. Adds to `problems`."""
        # Equal files mostly follow one another, and comparing is faster than hashing.
        if data != self._last[0]:
            self._last = (data, self._reading(data))
        reading = self._last[1]
        self.problems += (replace(problem, path=path) for problem in reading.problems)
        return reading.module

    def _reading(self, data: bytes) -> SnapshotReading:
        key = (len(data), hash(data))
        known = self._known.get(key)
        if known is None:
            with no_collections():
                known = self._with_own_names(self._read(data)) if data.strip() else _EMPTY
            self._known[key] = known
        return known

    def _with_own_names(self, reading: SnapshotReading) -> SnapshotReading:
        if reading.module is None:
            return reading
        module, problems = self._names.apply(reading.module)
        return SnapshotReading(module, first_problems([*reading.problems, *problems]))

    @abstractmethod
    def _read(self, data: bytes) -> SnapshotReading:
        """Read a file that was not seen before; never raises."""


class PrintedReader(SnapshotReader):
    """Reads files that are no text: each instruction is printed as a line, then read like one."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = InstructionPool()
        self._computations = ComputationPool()

    def _computation(
        self, header: str, lines: Iterable[str], problems: list[Problem], thread: str = "main"
    ) -> Computation:
        """Return the computation of a header and lines; adds a problem for each unreadable one."""
        instructions: list[Instruction] = []
        for line in lines:
            try:
                instructions.append(self._lines[line])
            except LineError as error:
                problems.append(unreadable_line(line, error))
        return self._computations.get(header, tuple(instructions), thread)


def first_problems(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the first problems; the last one has the number of the rest."""
    if len(problems) <= MAX_PROBLEMS:
        return tuple(problems)
    more = len(problems) - MAX_PROBLEMS + 1
    last = replace(
        problems[MAX_PROBLEMS - 1], message=f"{more} more problems from here on", excerpt=""
    )
    return (*problems[: MAX_PROBLEMS - 1], last)
