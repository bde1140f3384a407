"""Parts of a computation: instructions that belong together, drawn as one box or as one picture."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime.graphs import descend

MOST_THINGS = 100
"""Boxes that one level has at most; more are put into runs."""

FEWEST_ALIKE = 3
"""Parts alike that are put into one."""

_RUNS = 30
"""Into about how many runs a level is put that has too many things."""

_FREE = frozenset({"parameter", "constant"})
"""What is there everywhere and is cut by no border."""

_TIMES = "\N{MULTIPLICATION SIGN}"

PartKind = Literal["scope", "flow", "stretch", "run", "alike"]
"""A scope of the framework, a piece of the data flow, one of several stretches of the file that are
alike, mere neighbours in the file, several parts that are alike.
"""


@dataclass(frozen=True, slots=True)
class InstructionGroup:
    """Instructions that belong together."""

    target: str
    """`g=` and a path that no other part has: `g=main/jvp(GPT2)/h_4`."""
    title: str
    kind: PartKind
    things: "Things"
    """What a picture of it shows, in the order of the file."""
    size: int
    """Instructions in it at any depth."""

    def instructions(self) -> Iterator[Instruction]:
        """Yield all instructions in it, at any depth."""
        for thing in self._descend():
            if not isinstance(thing, InstructionGroup):
                yield thing

    def _descend(self) -> "Iterator[Thing]":
        roots: Things = (self,)
        return descend(roots, _inside)

    def members(self) -> "Iterator[Thing]":
        """Yield what is alike in a part of several alike: what it holds, runs of it opened."""
        for thing in self.things:
            if isinstance(thing, InstructionGroup) and thing.kind == "run":
                yield from thing.members()
            else:
                yield thing

    def parts(self) -> "Iterator[InstructionGroup]":
        """Yield the part and all parts in it."""
        for thing in self._descend():
            if isinstance(thing, InstructionGroup):
                yield thing


Thing = InstructionGroup | Instruction
Things = Sequence[Thing]


def _inside(thing: Thing) -> Things:
    return thing.things if isinstance(thing, InstructionGroup) else ()


class InstructionGrouper:
    """Makes the parts of one computation: in the order of the file, each with its own target."""

    def __init__(self, computation: Computation) -> None:
        self._crossings = _crossings(computation)
        self._order = {
            instruction.name: place for place, instruction in enumerate(computation.instructions)
        }
        self._targets: set[str] = set()

    def make(
        self, kind: PartKind, title: str, path: str, things: Iterable[Thing]
    ) -> InstructionGroup:
        """Make a part of few enough things, neighbours put together where there are too many."""
        ordered = self._runs(sorted(things, key=self.place), path)
        while path in self._targets:
            path += "'"
        self._targets.add(path)
        return InstructionGroup(
            f"g={path}", title, kind, tuple(ordered), sum(map(size_of, ordered))
        )

    def place(self, thing: Thing) -> int:
        """Return where in the file a thing begins."""
        while isinstance(thing, InstructionGroup):
            thing = thing.things[0]
        return self._order[thing.name]

    def _runs(self, things: list[Thing], path: str) -> list[Thing]:
        while len(things) > MOST_THINGS:
            length = max(4, min(MOST_THINGS, -(-len(things) // _RUNS)))
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
        """Return how many values are made before a thing and used from it on."""
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


def alike_words(part: InstructionGroup) -> list[str]:
    """Say how many parts alike there are, and how large; nothing of other parts."""
    if part.kind != "alike":
        return []
    sizes = sorted(size_of(member) for member in part.members())
    if sizes[-1] == 1:
        return [f"{_TIMES} {len(sizes)}"]
    each = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
    return [f"{_TIMES} {len(sizes)}, {each} instructions each"]


def size_of(thing: Thing) -> int:
    """Return how many instructions a thing is."""
    return thing.size if isinstance(thing, InstructionGroup) else 1


def name_of(thing: Thing) -> str:
    """Return what stands for a thing in a title."""
    return thing.title if isinstance(thing, InstructionGroup) else thing.name
