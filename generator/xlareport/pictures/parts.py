"""Parts of a computation: instructions that belong together, drawn as one box or as one picture."""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from xlareport.hlo.model import Instruction
from xlareport.runtime.graphs import descend

FIRST_VIEW = 25
"""Boxes that a reader takes in at once."""

MOST_THINGS = 100
"""Boxes that one level has at most; more are put into runs."""

SMALLEST_PART = 3
"""Instructions that make a scope worth a box."""

TO = " … "
"""Separates the first and the last name of a part."""

FEWEST_ALIKE = 3
"""Number of similar parts that are combined."""

TIMES = "\N{MULTIPLICATION SIGN}"

PartKind = Literal["scope", "flow", "stretch", "run", "alike"]
"""The kind of a part.

A scope of the framework, a piece of the data flow, one of several equal stretches of the file,
adjacent items of the file, or several similar parts.
"""


class InstructionGroup(Struct, frozen=True):
    """Instructions that belong together."""

    target: str
    """`g=` and a path that no other part has: `g=main/jvp(GPT2)/h_4`."""
    title: str
    kind: PartKind
    things: "Things"
    """The boxes of a picture of it, in file order."""
    size: int
    """Instructions in it at any depth."""

    def instructions(self) -> Iterator[Instruction]:
        """Yield all instructions in it, at any depth."""
        for thing in self._descend():
            if not isinstance(thing, InstructionGroup):
                yield thing

    def _descend(self) -> "Iterator[Thing]":
        roots: Things = (self,)
        return descend(roots, _group_things)

    def members(self) -> "Iterator[Thing]":
        """Yield the members of a group of similar parts; nested runs are flattened."""
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


def _group_things(thing: Thing) -> Things:
    return thing.things if isinstance(thing, InstructionGroup) else ()


def alike_words(part: InstructionGroup) -> list[str]:
    """Return number and size of similar parts; empty for other parts."""
    if part.kind != "alike" or TIMES in part.title:
        return []
    sizes = sorted(size_of(member) for member in part.members())
    if sizes[-1] == 1:
        return [f"{TIMES} {len(sizes)}"]
    size = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
    return [f"{TIMES} {len(sizes)}, {size} instructions each"]


def first_of(thing: Thing) -> Instruction:
    """Return the first instruction of a thing."""
    while isinstance(thing, InstructionGroup):
        thing = thing.things[0]
    return thing


def instructions_of(thing: Thing) -> Iterator[Instruction]:
    """Yield the instructions of a thing, at any depth."""
    return thing.instructions() if isinstance(thing, InstructionGroup) else iter((thing,))


def size_of(thing: Thing) -> int:
    """Return how many instructions a thing is."""
    return thing.size if isinstance(thing, InstructionGroup) else 1


def name_of(thing: Thing) -> str:
    """Return the name of an item for a title."""
    return thing.title if isinstance(thing, InstructionGroup) else thing.name
