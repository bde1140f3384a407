"""Delta debugging (Zeller's ddmin): the parts of a list that a fault needs."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def minimized(
    items: Sequence[T], fails: Callable[[Sequence[T]], bool], most_tests: int
) -> tuple[T, ...]:
    """Return a part of the items that still fails, of which no single one can be left out.

    After `most_tests` tests the smallest part so far is returned. `items` themselves must fail.
    """
    smallest, parts, tests = tuple(items), 2, 0
    while len(smallest) > 1 and tests < most_tests:
        size = -(-len(smallest) // parts)
        chunks = [smallest[start : start + size] for start in range(0, len(smallest), size)]
        candidates = chunks if parts == 2 else []
        candidates = [*candidates, *(_without(chunks, place) for place in range(len(chunks)))]
        for candidate in dict.fromkeys(candidates):
            tests += 1
            if candidate and fails(candidate):
                parts = 2 if candidate in chunks else max(parts - 1, 2)
                smallest = candidate
                break
            if tests >= most_tests:
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(smallest))
    return smallest


def _without(chunks: Sequence[tuple[T, ...]], place: int) -> tuple[T, ...]:
    return tuple(item for number, chunk in enumerate(chunks) if number != place for item in chunk)
