"""Places and slices of a sequence whose values are read when they are asked for."""

import pytest

from xlareport.storage.lazy_sequence import LazySequence


class Squares(LazySequence[int]):
    """The squares of 0 to 4; remembers which of them were worked out."""

    def __init__(self) -> None:
        self.worked_out: list[int] = []

    def __len__(self) -> int:
        return 5

    def value_at(self, place: int) -> int:
        self.worked_out.append(place)
        return place * place


def test_places_and_slices_are_those_of_a_list() -> None:
    squares, expected = Squares(), [0, 1, 4, 9, 16]
    assert list(squares) == expected
    assert [squares[place] for place in range(-5, 5)] == expected + expected
    assert squares[1:4] == expected[1:4]
    assert squares[::-2] == expected[::-2]
    assert squares[7:] == []


@pytest.mark.parametrize("place", [5, -6])
def test_a_place_outside_is_an_index_error(place: int) -> None:
    with pytest.raises(IndexError):
        Squares()[place]


def test_only_the_values_that_are_asked_for_are_worked_out() -> None:
    squares = Squares()
    assert (squares[3], squares[-4:-2]) == (9, [1, 4])
    assert squares.worked_out == [3, 1, 2]
