"""Sentences on the loops that are counted once."""

from types import SimpleNamespace
from typing import Any

from xlareport.pages.cost.unknown_loops import iterations_words, with_one_iteration


def cost(*loops: tuple[str, float, int | None, int | None]) -> Any:
    rows = [
        SimpleNamespace(
            instruction=name, seconds=seconds, trip_count=SimpleNamespace(count=count, most=most)
        )
        for name, seconds, count, most in loops
    ]
    return SimpleNamespace(loops=rows, whole_seconds=10.0)


def test_a_loop_with_a_bound_has_its_share_at_the_bound() -> None:
    bounded = cost(("while.1", 5.0, None, 64), ("while.2", 4.0, 3, None))
    assert iterations_words(bounded) == (
        "`%while.1`: at most 64 iterations; an iteration takes 5 s, counted once, 50% of the time; "
        "at 64 it is 98%."
    )
    assert with_one_iteration(bounded) == " with one iteration of %while.1"


def test_a_loop_without_a_bound_has_the_share_of_one_iteration() -> None:
    unbounded = cost(("while.1", 2.0, None, None), ("small", 0.01, None, None))
    assert iterations_words(unbounded) == (
        "`%while.1`: unknown trip count; an iteration takes 2 s, counted once, 20% of the time. "
        "From 5 iterations on, it takes longer than all else (8 s)."
    )


def test_known_trip_counts_need_no_sentence() -> None:
    known = cost(("while.2", 4.0, 3, None))
    assert iterations_words(known) == with_one_iteration(known) == ""
