"""Delta debugging on faults that are made up."""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from xlareport.replay.delta import minimized


@pytest.mark.parametrize(
    ("size", "needed"),
    [(1, {0}), (1000, {637}), (1000, {0, 999}), (64, {3, 17, 40, 41}), (7, set(range(7)))],
)
def test_what_the_fault_needs_stays(size: int, needed: set[int]) -> None:
    kept = minimized(range(size), lambda some: needed <= set(some), 10_000)
    assert set(kept) == needed


def test_a_fault_that_needs_two_neighbors_to_be_together() -> None:
    def fails(some: Sequence[int]) -> bool:
        return any(left + 1 == right for left, right in pairwise(some))

    assert len(minimized(range(50), fails, 10_000)) == 2


def test_the_number_of_tests_is_bounded() -> None:
    tests = 0

    def fails(some: Sequence[int]) -> bool:
        nonlocal tests
        tests += 1
        return {1, 500, 900} <= set(some)

    kept = minimized(range(1000), fails, 5)
    assert tests <= 5
    assert {1, 500, 900} <= set(kept)


def test_a_single_fault_of_many_takes_few_tests() -> None:
    tests = 0

    def fails(some: Sequence[int]) -> bool:
        nonlocal tests
        tests += 1
        return 637 in some

    minimized(range(1024), fails, 1000)
    assert tests <= 40
