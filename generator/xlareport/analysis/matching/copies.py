"""Further copies of closed computations, and copies that became one.

That two hold the same is not enough: many a sum in a reduction does. Their callers tell, or names.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlareport.analysis.matching.computations import unpaired
from xlareport.analysis.matching.contents import Contents, stem
from xlareport.analysis.matching.facts import Call
from xlareport.analysis.matching.pairing import Grade
from xlareport.analysis.matching.search import Search, Side
from xlareport.analysis.matching.values import UNKNOWN
from xlareport.hlo.model import Computation, Instruction


class Copy(NamedTuple):
    """A computation that another one on the other side holds as well."""

    name: str
    other: str
    grade: Grade
    """EXACT where a caller says so; by its name alone it is a guess."""


def copies_made(search: Search) -> Iterator[Copy]:
    """Yield computations that are only after, with the one before that each is a copy of."""
    contents = search.contents[1], search.contents[0]
    copies = _Copies((search.after, search.before), contents)
    yield from copies.of(unpaired(search.computations, 1))


def copies_merged(search: Search) -> Iterator[Copy]:
    """Yield computations that are only before, with the one after that is called instead."""
    copies = _Copies((search.before, search.after), search.contents)
    yield from copies.of(unpaired(search.computations, 0))


class _Copies:
    """What computations of one side are copies of on the other."""

    def __init__(self, sides: tuple[Side, Side], contents: tuple[Contents, Contents]) -> None:
        self._here, self._there = sides
        self._contents = contents
        self._known: dict[str, str | None] = {}
        self._by_stem: set[str] = set()
        self._numbers: dict[str, dict[str, int]] = {}
        """Numbers of the lines of copies, by their names."""

    def of(self, names: Sequence[str]) -> Iterator[Copy]:
        """Yield those that have an original."""
        for name in reversed(names):  # XLA prints what is called before its callers
            other = self._original(name)
            if other is not None:
                guessed = name in self._by_stem
                yield Copy(name, other, Grade.GUESSED if guessed else Grade.EXACT)

    def _original(self, name: str) -> str | None:
        if name not in self._known:
            self._known[name] = None
            sites = self._here.graph.call_sites(name)
            result = (self._called_instead(computation, call) for computation, call in sites)
            alike = (other for other in result if other is not None and self._alike(name, other))
            first = next(alike, None)
            if first is None and sites:
                self._by_stem.add(name)
                first = self._of_one_stem(name)
            self._known[name] = first
        return self._known[name]

    def _called_instead(self, computation: Computation, call: Call) -> str | None:
        """Return what is called on the other side at the place of a call."""
        line = self._line_there(computation, call.instruction)
        position = [callee for _, callee in call.instruction.called].index(call.callee)
        called = () if line is None else line.called
        return called[position][1] if position < len(called) else None

    def _line_there(self, computation: Computation, line: Instruction) -> Instruction | None:
        home = self._here.homes.get(computation.name)
        node = None if home is None else home.nodes.get(line.name)
        if node is not None and node.partner is not None:
            return node.partner.instruction
        original = self._known.get(computation.name)
        if original is None:
            return None
        number = self._number(computation, line.name)
        return self._there.graph.module.by_name[original].instructions[number]

    def _number(self, computation: Computation, name: str) -> int:
        result = self._numbers.get(computation.name)
        if result is None:
            lines = enumerate(computation.instructions)
            result = self._numbers[computation.name] = {
                instruction.name: place for place, instruction in lines
            }
        return result[name]

    def _alike(self, name: str, other: str) -> bool:
        """Whether two computations hold the same in as many lines."""
        lines = self._here.graph.module.by_name[name].instructions
        others = self._there.graph.module.by_name.get(other)
        token = self._contents[0].of(name)
        known = others is not None and token != UNKNOWN and len(lines) == len(others.instructions)
        return known and token == self._contents[1].of(other)

    def _of_one_stem(self, name: str) -> str | None:
        here = self._here.graph.module.by_name[name]
        other = self._contents[1].holding(self._contents[0].of(name), here)
        return other if other is not None and stem(other) == stem(name) else None
