"""Order of two paired computations: what is where it stood, what is elsewhere."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import Computation, Instruction

_WORK, _MADE_ANEW = 8, 7
"""Weights of lines that stay in order; one with another name was made anew, and placed so."""
_ELEMENT = "get-tuple-element"
_FREE = {"parameter": 2, "constant": 1}
"""Weights of opcodes that cost no time wherever they stand, and so say little of the order.

A broadcast of a constant weighs as much: passes defer both to what reads them.
"""


class Alignment(Struct, frozen=True):
    """Two computations that continue each other, and the lines that do, as positions."""

    before: Computation
    after: Computation
    steady: tuple[tuple[int, int], ...]
    """Pairs of positions, rising on both sides."""
    moved: tuple[tuple[int, int], ...]
    """Pairs that are earlier or later than the pairs in common order."""

    def describe_move(self, here: int, there: int) -> str:
        """Return where a moved line is now; behind which other, if at the same position."""
        if here != there or not there:
            return f"from position {here:,} to {there:,}"
        return f"behind %{self.after.instructions[there - 1].name}"


def alignments(matching: Matching) -> Iterator[Alignment]:
    """Yield the paired computations that differ, in the order of the module after."""
    old_names = {new: old for old, new in matching.computations.items()}
    for after in matching.after.computations:
        before = matching.before.by_name.get(old_names.get(after.name, ""))
        if before is not None:
            yield align(matching, before, after)


def align(matching: Matching, before: Computation, after: Computation) -> Alignment:
    """Align the lines of two computations by their partners."""
    positions = {line.name: number for number, line in enumerate(after.instructions)}
    spoken_of = matching.spoken_of_before
    partners: dict[str, int] = {}  # of duplicates that were merged, one goes on
    for number, line in enumerate(before.instructions):
        partner: str | None = line.name
        if (before.name, line.name) in spoken_of:
            partner = _name_after(matching, before, line, after)
        if partner not in positions:
            continue
        if partner not in partners or _goes_on(matching, before, line.name, after, partner):
            partners[partner] = number
    pairs = sorted((number, positions[partner]) for partner, number in partners.items())
    places = [place for _, place in pairs]
    if not _rise(places):
        pairs = sorted(_where_elements_stayed(before, after, pairs))
        places = [place for _, place in pairs]
    if _rise(places):  # as nearly always
        return Alignment(before, after, tuple(pairs), ())
    weights = [
        _weight(before, before.instructions[number], after.instructions[place])
        for number, place in pairs
    ]
    steady = steady_order(places, weights)
    return Alignment(
        before,
        after,
        tuple(pair for number, pair in enumerate(pairs) if number in steady),
        tuple(pair for number, pair in enumerate(pairs) if number not in steady),
    )


def _weight(home: Computation, line: Instruction, now: Instruction) -> int:
    """Return how much speaks against saying that a line of a computation moved."""
    read = home.operand(line) if line.opcode == "broadcast" else None
    opcode = "constant" if read is not None and read.opcode == "constant" else line.opcode
    return _FREE.get(opcode, _WORK if line.name == now.name else _MADE_ANEW)


def _name_after(
    matching: Matching, before: Computation, line: Instruction, after: Computation
) -> str | None:
    """Return the name of a line's partner; its own if the line stays beside what replaced it."""
    if after.by_name.get(line.name) is line:
        pairing = matching.pairing_before(Place(before.name, line.name))
        if pairing is not None and Place(after.name, line.name) in pairing.after:
            return line.name
    return matching.name_after(before.name, line.name, after.name)


def _goes_on(
    matching: Matching, before: Computation, name: str, after: Computation, partner: str
) -> bool:
    """Return whether the primary partner of an instruction after is that of a name before."""
    return matching.partner_before(Place(after.name, partner)) == (before.name, name)


def _where_elements_stayed(
    before: Computation, after: Computation, pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs; of an element that got the name of what read it behind a tuple, its own.

    A pass that replaces an instruction with another one gives that its name.
    """
    paired = {number for number, _ in pairs}
    stayed = {
        (line.operands, line.taken_element): number
        for number, line in enumerate(before.instructions)
        if line.opcode == _ELEMENT and line.name not in after.by_name and number not in paired
    }
    for number, place in pairs:
        line, now = before.instructions[number], after.instructions[place]
        read = now.operands, now.taken_element
        renamed = now.opcode == _ELEMENT and read != (line.operands, line.taken_element)
        yield (stayed.pop(read, number) if renamed else number), place


def _rise(places: Sequence[int]) -> bool:
    return all(place < following for place, following in pairwise(places))


def steady_order(places: Sequence[int], weights: Sequence[int]) -> set[int]:
    """Return the positions of the heaviest rising subsequence of different places.

    Of equal weights it is the longest: as few lines as possible are said to have moved. Some that
    cost no time move rather than what they are deferred behind, but not many rather than one.
    """
    if _rise(places):
        return set(range(len(places)))
    # For each last place, rising: the heaviest subsequence up to it, if no lower place has it.
    ends: list[int] = []
    totals: list[int] = []
    end_at: list[int] = []
    previous: list[int] = []
    for number, place in enumerate(places):
        first = bisect_left(ends, place)
        previous.append(end_at[first - 1] if first else -1)
        total = weights[number] + (totals[first - 1] if first else 0)
        last = bisect_right(totals, total, first)
        ends[first:last], totals[first:last], end_at[first:last] = [place], [total], [number]
    result = set()
    step = end_at[-1] if end_at else -1
    while step >= 0:
        result.add(step)
        step = previous[step]
    return result
