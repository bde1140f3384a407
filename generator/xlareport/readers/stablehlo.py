"""Reads `module.mlir`, the StableHLO that a framework passes to XLA: operations by line.

Locations are next to the operations and in a separate list: `loc(#loc7)`, and `#loc7 =
loc("jit(f)/add"(#loc5))`. Files of older versions have none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from xlareport.readers.lines import FileProblems, decoded_lines
from xlareport.runtime.errors import Problem
from xlareport.runtime.graphs import reachable

_DEFINED = re.compile(r"(#loc\d{0,9}) = loc\((.*)\)")
_PLACE = re.compile(r'"((?:[^"\\]|\\.)*+)":(\d{1,9}):\d{1,9}')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"?+')
_REFERENCE = re.compile(r"#loc\d{0,9}")
_TRAILING = re.compile(r"loc\((#loc\d{0,9})\)$")
_LONGEST_OPERATION = 2_000
"""Characters of an operation that are kept: constants can be whole tables."""
_MOST_LOCATIONS = 400
StackEntry = tuple[str, int]
"""(file, line)."""


class StablehloOperation(Struct, frozen=True):
    """An operation of the text with its Python stack."""

    text: str
    """Without its location; cut where it is very long."""
    line: int
    """In the file, counted from 1."""
    frames: tuple[StackEntry, ...]
    """Innermost first; empty where it has no known location."""


def read_stablehlo(data: bytes, path: str) -> tuple[tuple[StablehloOperation, ...], list[Problem]]:
    """Read the operations in order; other text is left out."""
    problems = FileProblems(path)
    lines = decoded_lines(data, problems)
    stacks = _Stacks(dict(_definitions(lines)))
    operations = []
    for number, line in enumerate(lines, 1):
        written = line.strip()
        located = _TRAILING.search(written[-40:])
        if located and not written.startswith(("#", "}")) and _is_operation(written):
            text = written[: -len(located[0])].rstrip()[:_LONGEST_OPERATION]
            operations.append(StablehloOperation(text, number, stacks.frames(located[1])))
    return tuple(operations), problems.all()


def _is_operation(line: str) -> bool:
    return line.startswith(("%", "return", "stablehlo.", "func.call", "call "))


def _definitions(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        match = _DEFINED.fullmatch(line.rstrip()) if line.startswith("#loc") else None
        if match:
            yield match[1], match[2]


class _Stacks:
    """Follows locations to the places in files that they represent."""

    def __init__(self, written: Mapping[str, str]) -> None:
        self._written = written
        self._known: dict[str, tuple[StackEntry, ...]] = {}
        self._places: dict[str, StackEntry | Sequence[str]] = {}

    def frames(self, name: str) -> tuple[StackEntry, ...]:
        """Return the places behind a location, innermost first."""
        if name not in self._known:
            self._known[name] = tuple(self._walked(name))
        return self._known[name]

    def _walked(self, name: str) -> Iterator[StackEntry]:
        """Walk from location to location, each once: what refers to itself ends."""
        for location in islice(reachable([name], self._referred), _MOST_LOCATIONS):
            place = self._location_entry(location)
            if isinstance(place, tuple):
                yield place

    def _referred(self, name: str) -> Sequence[str]:
        place = self._location_entry(name)
        return () if isinstance(place, tuple) else place

    def _location_entry(self, name: str) -> StackEntry | Sequence[str]:
        """Return the place of a location, or the names of other locations."""
        if name not in self._places:
            text = self._written.get(name, "")
            match = _PLACE.match(text)
            self._places[name] = (match[1], int(match[2])) if match else _referred(text)
        return self._places[name]


def _referred(text: str) -> Sequence[str]:
    """Return the locations that a location names: as many as are ever followed."""
    without_names = _QUOTED.sub("", text)  # which can hold anything
    matches = _REFERENCE.finditer(without_names)
    return list(dict.fromkeys(match[0] for match in islice(matches, _MOST_LOCATIONS)))
