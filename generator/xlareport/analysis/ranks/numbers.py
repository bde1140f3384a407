"""The numbers of ranks that have something in common, in few bytes: thousands are a few ranges."""

from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec import Struct


class RankNumbers(Struct, frozen=True):
    """Sorted numbers, as ranges of numbers that follow each other."""

    ranges: tuple[tuple[int, int], ...] = ()
    """The first and the last number of each."""

    def __str__(self) -> str:
        """Return the ranges as report.json has them: `1-16,18`; empty for none."""
        return ",".join(
            str(first) if first == last else f"{first}-{last}" for first, last in self.ranges
        )

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(range(first, last + 1) for first, last in self.ranges)

    def __len__(self) -> int:
        return sum(last + 1 - first for first, last in self.ranges)

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.ranges)


def rank_numbers(numbers: Iterable[int]) -> RankNumbers:
    """Return sorted numbers as ranges."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = ranges[-1][0], number
        else:
            ranges.append((number, number))
    return RankNumbers(tuple(ranges))
