from hypothesis import given
from hypothesis import strategies as st

from xlareport.analysis.steps.sequence import longest_rising


def test_one_that_moved_is_left_out() -> None:
    assert longest_rising([0, 1, 5, 2, 3]) == {0, 1, 3, 4}


def test_nothing() -> None:
    assert longest_rising([]) == set()


@given(st.lists(st.integers(0, 30), unique=True, max_size=12))
def test_it_rises_and_none_is_longer(places: list[int]) -> None:
    found = sorted(longest_rising(places))
    kept = [places[number] for number in found]
    assert kept == sorted(kept)
    best = [1] * len(places)
    for here in range(len(places)):
        shorter = [best[there] for there in range(here) if places[there] < places[here]]
        best[here] = 1 + max(shorter, default=0)
    assert len(found) == max(best, default=0)
