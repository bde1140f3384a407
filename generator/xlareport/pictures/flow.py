"""Connected pieces of a computation's data flow, and their repeated stretches.

Such stretches are layers that no scope names.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, pairwise

from msgspec import Struct

from xlareport.hlo.model import HloModule, Instruction
from xlareport.pictures.boxes import summary
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.grouper import InstructionGrouper
from xlareport.pictures.parts import FEWEST_ALIKE, TIMES, InstructionGroup, Thing
from xlareport.runtime.grouping import group_by_key

_SHORTEST_PERIOD = 2
_FEWEST = 3
_SHORTEST = 12
"""Minimum number of items in a repeat."""

_CANDIDATES = 10
_ROW = 8
"""Number of items in sequence that identify the period of layers with inner repetitions."""

_TOO_FREQUENT = 400
"""Number of occurrences from which an item says nothing about periods."""


class Repeat(Struct, frozen=True):
    """From `start` on, `count` equal stretches of `period` items."""

    start: int
    period: int
    count: int

    @property
    def end(self) -> int:
        """Where the last stretch ends."""
        return self.start + self.period * self.count


def find_repeat(things: Sequence[Hashable]) -> Repeat | None:
    """Return the repeat that covers most of a sequence; None where none is long enough."""
    repeats = [repeat for period in _periods(things) if (repeat := _longest(things, period))]
    return max(
        repeats, key=lambda repeat: (repeat.end - repeat.start, -repeat.period), default=None
    )


def _periods(things: Sequence[Hashable]) -> list[int]:
    """Return the most frequent distances between equal items or rows."""
    rows = [tuple(things[at : at + _ROW]) for at in range(len(things) - _ROW + 1)]
    return list(dict.fromkeys(_distances(rows) + _distances(things)))


def _distances(things: Sequence[Hashable]) -> list[int]:
    places = group_by_key((thing, place) for place, thing in enumerate(things))
    distances: Counter[int] = Counter()
    for item in places.values():
        if _FEWEST <= len(item) <= _TOO_FREQUENT:
            distances.update(b - a for a, b in pairwise(item))
    long = Counter({number: n for number, n in distances.items() if number >= _SHORTEST_PERIOD})
    return [number for number, _ in long.most_common(_CANDIDATES)]


def _longest(things: Sequence[Hashable], period: int) -> Repeat | None:
    """Return the longest sequence in which each item is repeated one period later."""
    best, run = Repeat(0, period, 0), 0
    for place in range(len(things) - period):
        run = run + 1 if things[place] == things[place + period] else 0
        count = run // period + 1
        if count > best.count:
            best = Repeat(place - run + 1, period, count)
    long = best.count >= _FEWEST and best.count * period >= _SHORTEST
    return _shortened(things, best) if long else None


def _shortened(things: Sequence[Hashable], repeat: Repeat) -> Repeat:
    """Return the repeat with the shortest period that it has."""
    first = things[repeat.start : repeat.start + repeat.period]
    for period in range(1, repeat.period):
        if repeat.period % period == 0 and first[period:] == first[:-period]:
            return Repeat(repeat.start, period, repeat.count * repeat.period // period)
    return repeat


_HUB = 8
"""Number of users from which a value no longer connects pieces."""

_FEWEST_SINGLE = 8
"""Number of similar single instructions that are put into one box."""

_FEWEST_NUMBERS = 8
"""Instructions on single numbers that are put into one box: their arrows lead everywhere."""

_LARGE_PIECES = 8
"""Number of pieces drawn separately if there are many; and instructions that make a row a box."""

_SHORT = 24
"""Number of instructions below which no repeats are searched."""

_MOST_REPEATS = 12
"""Limit on stretches that are searched for repeats, to keep the time linear."""

FlowLikeness = tuple[tuple[str, int], ...]


class FlowDivider:
    """Divides instructions of one computation."""

    def __init__(self, module: HloModule, folding: Folding, maker: InstructionGrouper) -> None:
        self._module = module
        self._folding = folding
        self._maker = maker

    def divide(self, own: Sequence[Instruction], path: str, *, crowded: bool) -> list[Thing]:
        """Return parts for similar pieces; if there are many, for every piece."""
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
        """Combine similar pieces."""
        families = group_by_key((self._likeness(piece), piece) for piece in pieces)
        result: list[Thing] = []
        others: list[list[Instruction]] = []
        for members in families.values():
            if len(members) >= (_FEWEST_SINGLE if len(members[0]) == 1 else FEWEST_ALIKE):
                result.append(self._family(members, path))
            else:
                others += members
        return result + (self._others(others, path) if crowded else list(chain(*others)))

    def _family(self, pieces: Sequence[list[Instruction]], path: str) -> InstructionGroup:
        """Return one part for similar pieces."""
        last = pieces[0][-1]
        single = len(pieces[0]) == 1
        title = f"{len(pieces)} {TIMES} {last.opcode}" if single else f"{last.name} …"
        members = [self._piece(piece, path) for piece in pieces]
        return self._maker.make("alike", title, f"{path}/{last.name}*", members)

    def _others(self, pieces: list[list[Instruction]], path: str) -> list[Thing]:
        """Return a part for each of the largest pieces, and one for all others if many."""
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
        return self._maker.make(
            "flow", f"subgraph ending at {last}", path, self._repeats(piece, path)
        )

    def _repeats(self, piece: list[Instruction], path: str) -> list[Thing]:
        """Return a part for each sequence of equal stretches, and others for the rest."""
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

    def _likeness(self, piece: Iterable[Instruction]) -> FlowLikeness:
        """Return the key of similar pieces: their opcodes and the computations they call."""
        return tuple(sorted(Counter(map(self._kind, piece)).items()))

    def _kind(self, instruction: Instruction) -> str:
        return " ".join([instruction.opcode, *map(summary, self._module.callees(instruction))])

    def _pieces(self, own: Sequence[Instruction]) -> list[list[Instruction]]:
        """Return the connected pieces; scalars and widely used values do not connect."""
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
    """Return the key that corresponding instructions of two layers share."""
    return instruction.opcode, instruction.shape.element_type, len(instruction.shape.dimensions)


def _chief(chief: dict[str, str], name: str) -> str:
    """Return who represents the piece of a name, and shorten the way there."""
    while chief[name] != name:
        chief[name] = name = chief[chief[name]]
    return name
