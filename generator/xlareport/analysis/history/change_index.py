"""The steps at which each instruction of a module can have changed."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from xlareport.analysis.history.branch_operands import conditionals_given_otherwise
from xlareport.analysis.history.changed_bodies import holders_of_changed_bodies
from xlareport.analysis.history.operand_types import retyped_operands
from xlareport.analysis.history.scattered_updates import scatters_of_other_updates
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching

_Numbers = Mapping[tuple[str, str] | str, tuple[int, ...]]
"""The indices of snapshots, rising, by a place or by the name of a whole computation."""


class ChangeIndex:
    """Places and computations that pairings cover, by snapshot; all others are unchanged."""

    def __init__(self, matchings: Iterable[tuple[int, Matching]]) -> None:
        """Store the matchings in order, each with the index of the snapshot after it."""
        before, after = _Steps(), _Steps()
        for number, matching in matchings:
            before.add(number, matching.spoken_of_before)
            after.add(number, matching.spoken_of_after)
            for old, new in _with_same_line(matching):
                before.add(number, (old,))
                after.add(number, (new,))
            before.add(number, _gone_or_renamed(matching))
            after.add(number, _new_or_renamed(matching))
        self._before: Final[_Numbers] = before.of
        self._after: Final[_Numbers] = after.of

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


def _with_same_line(matching: Matching) -> Iterator[tuple[Place, Place]]:
    """Yield the places, old and new, that changed though their lines may have stayed the same."""
    yield from retyped_operands(matching)
    yield from holders_of_changed_bodies(matching)
    yield from conditionals_given_otherwise(matching)
    yield from scatters_of_other_updates(matching)


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


class _Steps:
    """The steps that changed each place: those that always changed together share one tuple."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, str] | str, tuple[int, ...]] = {}

    def add(self, number: int, changed: Iterable[tuple[str, str] | str]) -> None:
        """Note a step of everything that it changed, later than all steps before."""
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        known = self.of
        for key in changed:
            former = known.get(key, ())
            steps = shared.get(former)
            if steps is None:
                steps = shared[former] = (*former, number)
            known[key] = steps
