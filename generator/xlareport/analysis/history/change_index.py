"""The steps at which an instruction can have changed, so that histories skip the others."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from xlareport.analysis.history.operand_types import retyped_products
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching

_Numbers = Mapping[tuple[str, str] | str, list[int]]
"""The indices of snapshots, rising, by a place or by the name of a whole computation."""


class ChangeIndex:
    """Places and computations that pairings cover, by snapshot; all others are unchanged."""

    def __init__(self, matchings: Iterable[tuple[int, Matching]]) -> None:
        """Take the matchings in their order, each with the index of the snapshot after it."""
        before: dict[tuple[str, str] | str, list[int]] = {}
        after: dict[tuple[str, str] | str, list[int]] = {}
        for number, matching in matchings:
            for place in matching.spoken_of_before:
                before.setdefault(place, []).append(number)
            for place in matching.spoken_of_after:
                after.setdefault(place, []).append(number)
            for old_product, new_product in retyped_products(matching):
                before.setdefault(old_product, []).append(number)
                after.setdefault(new_product, []).append(number)
            for old in _gone_or_renamed(matching):
                before.setdefault(old, []).append(number)
            for new in _new_or_renamed(matching):
                after.setdefault(new, []).append(number)
        self._before: Final[_Numbers] = before
        self._after: Final[_Numbers] = after

    def step_to(self, place: Place, number: int) -> int:
        """Return the last step up to a snapshot that can have changed a place in it; 0 if none."""
        value = 0
        for key in (place, place.computation):
            numbers = self._after.get(key, ())
            count = bisect_right(numbers, number)
            value = max(value, numbers[count - 1] if count else 0)
        return value

    def step_from(self, place: Place, number: int) -> int | None:
        """Return the first step after a snapshot that can have changed a place; None if none."""
        value: int | None = None
        for key in (place, place.computation):
            numbers = self._before.get(key, ())
            count = bisect_left(numbers, number + 1)
            if count < len(numbers) and (value is None or numbers[count] < value):
                value = numbers[count]
        return value


def _gone_or_renamed(matching: Matching) -> Iterator[str]:
    for computation in matching.before.computations:
        new = matching.computations.get(computation.name, computation.name)
        if new != computation.name or new not in matching.after.by_name:
            yield computation.name


def _new_or_renamed(matching: Matching) -> Iterator[str]:
    old = {new: old for old, new in matching.computations.items()}
    for computation in matching.after.computations:
        former = old.get(computation.name, computation.name)
        if former != computation.name or former not in matching.before.by_name:
            yield computation.name
