"""Makes the parts of one computation, so that values between any two go in one direction only."""

from collections.abc import Iterable, Iterator
from itertools import accumulate

from xlareport.hlo.model import Computation
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.cycle_breaking import order_without_cycles
from xlareport.pictures.parts import (
    MOST_THINGS,
    InstructionGroup,
    PartKind,
    Thing,
    Things,
    first_of,
    name_of,
    size_of,
)
from xlareport.pictures.value_flow import ValueFlow

_RUNS = 30
"""Approximate number of runs for a level with too many items."""

_FREE = frozenset({"parameter", "constant"})
"""Opcodes that do not count when values cross a border."""


class InstructionGrouper:
    """Makes parts with unique targets, in order of use."""

    def __init__(self, folding: Folding) -> None:
        self.flow = ValueFlow(folding)
        self._crossings = _crossings(folding.computation)
        self._targets: set[str] = set()

    def make(
        self,
        kind: PartKind,
        title: str,
        path: str,
        things: Iterable[Thing],
        most: int = MOST_THINGS,
    ) -> InstructionGroup:
        """Make a part of at most `most` things, neighbors put together where there are more."""
        ordered = order_without_cycles([*things], self.flow, self._target)
        kept = tuple(self._runs(ordered, path, most))
        target = self._target(path)
        return InstructionGroup(f"g={target}", title, kind, kept, sum(map(size_of, kept)))

    def _target(self, path: str) -> str:
        while path in self._targets:
            path += "'"
        self._targets.add(path)
        return path

    def place(self, thing: Thing) -> int:
        """Return the file position at which an item begins."""
        return self.flow.places[first_of(thing).name]

    def _runs(self, things: list[Thing], path: str, most: int) -> list[Thing]:
        while len(things) > most:
            length = max(4, min(most, -(-len(things) // min(most, _RUNS))))
            pieces = list(self._pieces(things, length))
            things = [
                self.row("run", piece, f"{path}/run {n}") for n, piece in enumerate(pieces, 1)
            ]
        return things

    def _pieces(self, things: list[Thing], length: int) -> Iterator[list[Thing]]:
        """Yield pieces of about a length, cut where fewest values go across.

        Where just one does, it dominates all that follows.
        """
        start, slack = 0, length // 4
        while len(things) - start > length + slack:
            cuts = range(start + length - slack, start + length + slack + 1)
            best = min(cuts, key=lambda at: (self._crossing(things[at]), abs(at - start - length)))
            yield things[start:best]
            start = best
        yield things[start:]

    def _crossing(self, thing: Thing) -> int:
        """Return the number of values that are made before an item and used afterwards."""
        return self._crossings[self.place(thing)]

    def row(self, kind: PartKind, things: Things, path: str) -> InstructionGroup:
        """Make a part that is named by its first and its last thing."""
        first, last = name_of(things[0]), name_of(things[-1])
        return self.make(kind, first if first == last else f"{first} … {last}", path, things)


def _crossings(computation: Computation) -> list[int]:
    """Return for each place in a computation how many values are made before it and used later."""
    last: dict[str, int] = {}
    for place, instruction in enumerate(computation.instructions):
        last.update(dict.fromkeys(instruction.operand_names, place))
    changes = [0] * (len(computation.instructions) + 2)
    for place, this_instruction in enumerate(computation.instructions):
        if this_instruction.opcode not in _FREE and last.get(this_instruction.name, 0) > place:
            changes[place + 1] += 1
            changes[last[this_instruction.name] + 1] -= 1
    return list(accumulate(changes))
