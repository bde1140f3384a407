"""A computation too large for one picture, divided into meaningful parts.

First by phase (forward, backward, optimizer), then by the framework's scopes, or the source line if
there are none; scopes that differ only in numbers become one part, `h_0 … h_11`. The rest is
divided by data flow (an optimizer updates each weight separately), and parts that are still too
large by their position in the file. Values between two parts go in one direction only.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from xlareport.hlo.model import HloModule, Instruction
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.cycle_breaking import numbered
from xlareport.pictures.flow import FlowDivider
from xlareport.pictures.grouper import InstructionGrouper
from xlareport.pictures.labels import PathFinder, is_line
from xlareport.pictures.parts import (
    FIRST_VIEW,
    MOST_THINGS,
    SMALLEST_PART,
    TO,
    InstructionGroup,
    Thing,
)
from xlareport.pictures.shade import stem
from xlareport.pictures.value_flow import Stretch, join, split

_FEW_THINGS = 12
"""Number of boxes up to which nothing needs to be combined."""

_FEWEST_SCOPES = 4
"""Number of similar scopes that are put into one box."""

_MOST_LINES = 12
"""Stretches of source lines; where there are more, layers without scopes repeat the lines."""

_LANDMARKS = frozenset({"while", "conditional"})
"""Opcodes that get a box each, unless there are many."""


def divide(module: HloModule, folding: Folding, finder: PathFinder) -> InstructionGroup:
    """Divide what is drawn of a computation."""
    drawn = [
        instruction
        for instruction in folding.computation.instructions
        if not folding.is_folded(instruction.name)
    ]
    return _Divider(module, folding, drawn, finder).whole()


class _Divider:
    """Makes parts by what instructions have in common."""

    def __init__(
        self,
        module: HloModule,
        folding: Folding,
        drawn: Sequence[Instruction],
        finder: PathFinder,
    ) -> None:
        self._drawn = drawn
        self._computation = folding.computation
        self._maker = InstructionGrouper(folding)
        self._paths = finder.paths(folding.computation, drawn, self._maker.flow)
        self._flow = FlowDivider(module, folding, self._maker)

    def whole(self) -> InstructionGroup:
        """Return all drawn instructions as one group of at most FIRST_VIEW items."""
        name = self._computation.name
        return self._group_of_paths(self._drawn, 0, name, name, FIRST_VIEW)

    def _group_of_paths(
        self, own: Sequence[Instruction], depth: int, title: str, path: str, most: int = MOST_THINGS
    ) -> InstructionGroup:
        """Make the part of instructions whose paths are the same up to `depth`.

        Levels that hold nothing but one other become one with it.
        """
        while (word := self._only_word(own, depth)) is not None:
            title, path, depth = f"{title}/{word}", f"{path}/{word}", depth + 1
        stretches = self._stretches(own, depth)
        alone = stretches.pop(None, [])
        parts = [self._inner(some, depth, part, path) for part, some in stretches.items() if part]
        things = self._alike(parts, path)
        rest = self._own(alone, len(things), path)
        return self._maker.make("scope", title, path, [*things, *rest], most)

    def _only_word(self, own: Sequence[Instruction], depth: int) -> str | None:
        """Return the word that all have at a depth; None where they differ."""
        words = {self._word(instruction.name, depth) for instruction in own}
        return next(iter(words)) if len(words) == 1 else None

    def _word(self, name: str, depth: int) -> str | None:
        path = self._paths.get(name, ())
        return path[depth] if depth < len(path) else None

    def _inner(
        self, some: Sequence[Instruction], depth: int, stretch: Stretch, path: str
    ) -> InstructionGroup:
        word = str(stretch.label)
        return self._group_of_paths(
            some, depth + 1, numbered(word, stretch.number), f"{path}/{word}"
        )

    def _stretches(
        self, own: Sequence[Instruction], depth: int
    ) -> dict[Stretch | None, list[Instruction]]:
        """Return the instructions of each word at a depth; those of None are single.

        Words that differ only in numbers are split together, so that `h_0 … h_11` stays one.
        """
        names, flow = [instruction.name for instruction in own], self._maker.flow
        count = Counter(stem(word) for word in {self._word(name, depth) for name in names} if word)

        def family(word: str) -> str:
            return stem(word) if count[stem(word)] >= _FEWEST_SCOPES and not is_line(word) else word

        words = join(names, lambda name: self._word(name, depth), family, flow)
        labels = {name: family(words[name]) if name in words else ("", name) for name in names}
        numbers = split(names, labels, flow)
        result: dict[Stretch | None, list[Instruction]] = {}
        for instruction in own:
            word, number = words.get(instruction.name), numbers[instruction.name].number
            stretch = None if word is None else Stretch(word, number)
            result.setdefault(stretch, []).append(instruction)
        return self._large(result)

    def _large(
        self, stretches: Mapping[Stretch | None, list[Instruction]]
    ) -> dict[Stretch | None, list[Instruction]]:
        """Return the stretches that are large enough for a box; the others are under None."""
        lines = sum(stretch is not None and is_line(str(stretch.label)) for stretch in stretches)
        result: dict[Stretch | None, list[Instruction]] = {None: []}
        for stretch, some in stretches.items():
            line = stretch is not None and is_line(str(stretch.label))
            worth = len(some) >= SMALLEST_PART and not (line and lines > _MOST_LINES)
            kept = stretch if worth else None
            result.setdefault(kept, []).extend(some)
        result[None].sort(key=self._maker.place)
        return result

    def _own(self, own: Sequence[Instruction], others: int, path: str) -> Sequence[Thing]:
        """Return the own items of a scope, combined if there are too many."""
        if len(own) + others <= _FEW_THINGS:
            return own
        crowded = len(own) + others > MOST_THINGS
        landmarks = [instruction for instruction in own if instruction.opcode in _LANDMARKS]
        if len(landmarks) > _FEW_THINGS:
            return self._flow.divide(own, path, crowded=crowded)
        rest = [instruction for instruction in own if instruction.opcode not in _LANDMARKS]
        return [*landmarks, *self._flow.divide(rest, path, crowded=crowded)]

    def _alike(self, parts: Sequence[InstructionGroup], path: str) -> list[InstructionGroup]:
        """Combine scopes that differ only in numbers into one part."""
        families: dict[str, list[InstructionGroup]] = {}
        for part in parts:
            name = part.title if is_line(part.title) else stem(part.title)
            families.setdefault(name, []).append(part)
        groups: list[InstructionGroup] = []
        for name, members in families.items():
            if len(members) < _FEWEST_SCOPES:
                groups += members
                continue
            members.sort(key=self._maker.place)
            title = f"{members[0].title}{TO}{members[-1].title}"
            groups.append(self._maker.make("alike", title, f"{path}/{name}", members))
        return groups
