"""Order of two paired computations: what is where it stood, what is elsewhere."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.matching.pairing import Place
from xlareport.analysis.matching.result import Matching
from xlareport.hlo.model import Computation


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
    partners: dict[str, int] = {}  # of duplicates that were merged, one goes on
    for number, line in enumerate(before.instructions):
        partner = matching.name_after(before.name, line.name, after.name)
        if partner is None:
            continue
        if partner not in partners or _goes_on(matching, before, line.name, after, partner):
            partners[partner] = number
    pairs = sorted((number, positions[partner]) for partner, number in partners.items())
    steady = longest_rising([place for _, place in pairs])
    return Alignment(
        before,
        after,
        tuple(pair for number, pair in enumerate(pairs) if number in steady),
        tuple(pair for number, pair in enumerate(pairs) if number not in steady),
    )


def _goes_on(
    matching: Matching, before: Computation, name: str, after: Computation, partner: str
) -> bool:
    """Return whether the primary partner of an instruction after is that of a name before."""
    return matching.partner_before(Place(after.name, partner)) == (before.name, name)


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
