"""Order of two paired computations: what is where it stood, what is elsewhere."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import Computation, Instruction

_MADE_ANEW = 1
"""Lightness of lines with another name: a pass made them anew, and placed them."""
_LIGHTNESS = {"parameter": 2, "constant": 3}
"""Opcodes that are moved rather than others: they cost no time wherever they stand."""


class Alignment(Struct, frozen=True):
    """Two computations that continue each other, and the lines that do, as positions."""

    before: Computation
    after: Computation
    steady: tuple[tuple[int, int], ...]
    """Pairs of positions, rising on both sides."""
    moved: tuple[tuple[int, int], ...]
    """Pairs that are earlier or later than the pairs in common order."""


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
    lightness = [
        _lightness(before.instructions[number], after.instructions[place])
        for number, place in pairs
    ]
    steady = steady_order([place for _, place in pairs], lightness)
    return Alignment(
        before,
        after,
        tuple(pair for number, pair in enumerate(pairs) if number in steady),
        tuple(pair for number, pair in enumerate(pairs) if number not in steady),
    )


def _lightness(line: Instruction, now: Instruction) -> int:
    """Return how readily a line is said to have moved; 0 for one that stays as it is."""
    return _LIGHTNESS.get(line.opcode, _MADE_ANEW if line.name != now.name else 0)


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


def steady_order(places: Sequence[int], lightness: Sequence[int]) -> set[int]:
    """Return the positions of a rising subsequence, the longest of those of lightness 0.

    Lighter ones are added where they fit between the others, the less light first.
    """
    if all(place < following for place, following in pairwise(places)):
        return set(range(len(places)))
    result: set[int] = set()
    for level in sorted(set(lightness)):
        fences = [-1, *sorted(result), len(places)]
        bounded = [-1, *places, max(places) + 1]
        for first, last in pairwise(fences):
            low, high = bounded[first + 1], bounded[last + 1]
            inside = [
                number
                for number in range(first + 1, last)
                if lightness[number] == level and low < places[number] < high
            ]
            result.update(inside[at] for at in longest_rising([places[n] for n in inside]))
    return result


def longest_rising(places: Sequence[int]) -> set[int]:
    """Return the positions of a longest strictly rising subsequence."""
    ends: list[int] = []
    end_at: list[int] = []
    previous: list[int] = []
    for number, place in enumerate(places):
        length = bisect_left(ends, place)
        previous.append(end_at[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        end_at[length : length + 1] = [number]
    result = set()
    step = end_at[-1] if end_at else -1
    while step >= 0:
        result.add(step)
        step = previous[step]
    return result
