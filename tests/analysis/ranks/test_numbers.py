"""Numbers of ranks as ranges."""

import pytest

from xlareport.analysis.ranks.numbers import rank_numbers


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((), ""), ((7,), "7"), ((1, 2, 3), "1-3"), ((1, 2, 4, 6, 7), "1-2,4,6-7")],
)
def test_ranges_are_the_numbers(numbers: tuple[int, ...], text: str) -> None:
    ranks = rank_numbers(numbers)
    assert str(ranks) == text
    assert tuple(ranks) == numbers
    assert len(ranks) == len(numbers)
    assert [number for number in range(9) if number in ranks] == list(numbers)


def test_equal_numbers_are_equal() -> None:
    assert rank_numbers((1, 2)) == rank_numbers(range(1, 3)) != rank_numbers((1, 3))
