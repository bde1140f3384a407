"""Instructions that no scope holds, divided where their data flow falls apart or repeats itself."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from xlareport.hlo.model import HloModule, Instruction
from xlareport.pictures.boxes import summary
from xlareport.pictures.folding import Folding
from xlareport.pictures.parts import FEWEST_ALIKE, InstructionGroup, InstructionGrouper, Thing
from xlareport.pictures.repeats import find_repeat

_HUB = 8
"""Users from which on a value is one that everybody reads, which holds nothing together."""

_FEWEST_SINGLE = 8
"""Single instructions alike that are put into one box."""

_FEWEST_NUMBERS = 8
"""Instructions on single numbers that are put into one box: their arrows lead everywhere."""

_LARGE_PIECES = 8
"""Pieces that stand alone where it is crowded; and instructions that make a row worth a box."""

_SHORT = 24
"""Instructions in which no repeats are looked for."""

_MOST_REPEATS = 12
"""Stretches in which repeats are looked for, so that the time grows with the length only."""

Likeness = tuple[tuple[str, int], ...]


class FlowDivider:
    """Divides instructions of one computation."""

    def __init__(self, module: HloModule, folding: Folding, maker: InstructionGrouper) -> None:
        self._module = module
        self._folding = folding
        self._maker = maker

    def divide(self, own: Sequence[Instruction], path: str, *, crowded: bool) -> list[Thing]:
        """Return parts for what is alike; where it is crowded, for every piece."""
        pieces = self._pieces(own)
        numbers = [
            instruction for piece in pieces if all(map(_is_number, piece)) for instruction in piece
        ]
        if len(numbers) < _FEWEST_NUMBERS:
            return self._gather(pieces, path, crowded=crowded)
        among = {number.name for number in numbers}
        others = [piece for piece in pieces if piece[0].name not in among]
        path_within = f"{path}/single numbers"
        inside = self._gather([[number] for number in numbers], path_within, crowded=True)
        part = self._maker.make("run", "single numbers", path_within, inside)
        return [part, *self._gather(others, path, crowded=crowded)]

    def _gather(self, pieces: list[list[Instruction]], path: str, *, crowded: bool) -> list[Thing]:
        """Put pieces alike together."""
        families: dict[Likeness, list[list[Instruction]]] = {}
        for piece in pieces:
            families.setdefault(self._likeness(piece), []).append(piece)
        result: list[Thing] = []
        others: list[list[Instruction]] = []
        for members in families.values():
            if len(members) >= (_FEWEST_SINGLE if len(members[0]) == 1 else FEWEST_ALIKE):
                result.append(self._family(members, path))
            else:
                others += members
        return result + (self._others(others, path) if crowded else list(chain(*others)))

    def _family(self, pieces: Sequence[list[Instruction]], path: str) -> InstructionGroup:
        """Make one part of pieces alike."""
        name = pieces[0][-1].name
        members = [self._piece(piece, path) for piece in pieces]
        return self._maker.make("alike", f"{name} …", f"{path}/{name}*", members)

    def _others(self, pieces: list[list[Instruction]], path: str) -> list[Thing]:
        """Make a part of each of the largest pieces, and one of all others if they are many."""
        pieces.sort(key=len, reverse=True)
        large = [self._piece(piece, path) for piece in pieces[:_LARGE_PIECES]]
        small = [self._piece(piece, path) for piece in pieces[_LARGE_PIECES:]]
        if len(small) <= _LARGE_PIECES:
            return large + small
        return [*large, self._maker.row("run", small, f"{path}/small pieces")]

    def _piece(self, piece: list[Instruction], path: str) -> Thing:
        if len(piece) == 1:
            return piece[0]
        last = piece[-1].name
        path = f"{path}/{last}"
        return self._maker.make("flow", f"up to {last}", path, self._repeats(piece, path))

    def _repeats(self, piece: list[Instruction], path: str) -> list[Thing]:
        """Put stretches alike into one part each, and what stands between them into others."""
        result: list[Thing] = []
        between: list[list[Instruction]] = []
        waiting, tries = [piece], _MOST_REPEATS
        while waiting:
            some = waiting.pop()
            tries -= 1
            look = len(some) > _SHORT and tries > 0
            repeat = find_repeat([_token(instruction) for instruction in some]) if look else None
            if repeat is None:
                between.append(some)
                continue
            waiting += [some[: repeat.start], some[repeat.end :]]
            starts = range(repeat.start, repeat.end, repeat.period)
            result.append(self._alike([some[at : at + repeat.period] for at in starts], path))
        return result + self._between(between, path) if result else list(piece)

    def _between(self, stretches: Iterable[list[Instruction]], path: str) -> list[Thing]:
        """Put each long stretch into one part."""
        result: list[Thing] = []
        for some in stretches:
            long = len(some) > _LARGE_PIECES
            result += [self._maker.row("run", some, f"{path}/{some[0].name}")] if long else some
        return result

    def _alike(self, stretches: list[list[Instruction]], path: str) -> InstructionGroup:
        path = f"{path}/{stretches[0][0].name}*"
        members = [
            self._maker.row("stretch", some, f"{path}/{number}")
            for number, some in enumerate(stretches, 1)
        ]
        return self._maker.make("alike", members[0].title, path, members)

    def _likeness(self, piece: Iterable[Instruction]) -> Likeness:
        """Return what pieces alike have in common: their opcodes, and what they call."""
        return tuple(sorted(Counter(map(self._kind, piece)).items()))

    def _kind(self, instruction: Instruction) -> str:
        called = [self._module.by_name.get(name) for _, name in instruction.called]
        return " ".join([instruction.opcode, *(summary(inner) for inner in called if inner)])

    def _pieces(self, own: Sequence[Instruction]) -> list[list[Instruction]]:
        """Return the connected pieces, where numbers and what everybody reads connect nothing."""
        chief = {instruction.name: instruction.name for instruction in own}
        for instruction in own:
            for operand in instruction.operand_names:
                text = self._folding.elements.get(operand, operand).partition("#")[0]
                if text in chief and self._connects(text):
                    chief[_chief(chief, text)] = _chief(chief, instruction.name)
        pieces: dict[str, list[Instruction]] = {}
        for this_instruction in own:
            pieces.setdefault(_chief(chief, this_instruction.name), []).append(this_instruction)
        return list(pieces.values())

    def _connects(self, name: str) -> bool:
        computation = self._folding.computation
        few = len(computation.users.get(name, ())) < _HUB
        return few and computation.by_name[name].shape.element_count != 1


def _is_number(instruction: Instruction) -> bool:
    return instruction.shape.element_count == 1


def _token(instruction: Instruction) -> tuple[str, str, int]:
    """Return what instructions at the same place of two layers have in common."""
    return instruction.opcode, instruction.shape.element_type, len(instruction.shape.dimensions)


def _chief(chief: dict[str, str], name: str) -> str:
    """Return who stands for the piece of a name, and shorten the way there."""
    while chief[name] != name:
        chief[name] = name = chief[chief[name]]
    return name
