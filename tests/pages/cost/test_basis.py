"""Sentences on what times are estimated by."""

from types import SimpleNamespace
from typing import Any

import pytest

from xlareport.analysis.cost.roofline import UnmodeledCollectives
from xlareport.pages.cost.basis import describe_cycles, describe_time_by_cycles, describe_unmodeled


@pytest.mark.parametrize(
    ("cycles", "words"),
    [
        (3_000_000, " By the compiler's estimated cycles, 12 instructions alone take 2 ms."),
        (3_000, ""),
    ],
)
def test_cycles_that_cover_a_part_are_stated_if_they_take_longer(cycles: int, words: str) -> None:
    part = SimpleNamespace(cycles=cycles, instructions=12, clock=1.5e9, seconds=None)
    cost: Any = SimpleNamespace(cycles=part, seconds=1e-4)
    assert describe_time_by_cycles(cost) == words


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ((), ""),
        ((("sort", 1),), " 1 sort has no estimated cycles: its time is not known."),
        (
            (("scatter", 2), ("custom fusion", 2)),
            " 2 scatters and 2 custom fusions have no estimated cycles: their time is not known.",
        ),
    ],
)
def test_what_has_no_cycles_is_named(kinds: tuple[tuple[str, int], ...], words: str) -> None:
    whole = SimpleNamespace(cycles=3_000_000, instructions=12, clock=1.5e9, seconds=2e-3)
    cost: Any = SimpleNamespace(cycles=whole, without_cycles=kinds, asynchronous_seconds=None)
    assert describe_time_by_cycles(cost) == f" By the compiler's estimated cycles: 2 ms.{words}"
    assert f" Shares are of this time.{words} The cycles are in" in describe_cycles(cost)


def test_collectives_without_a_modeled_time_are_counted() -> None:
    cost: Any = SimpleNamespace(unmodeled_collectives=UnmodeledCollectives(1, "no link is known"))
    words = " 1 collective has no modeled time on links (no link is known): the roofline time has "
    assert describe_unmodeled(cost) == f"{words}its memory accesses only."
    assert not describe_unmodeled(SimpleNamespace(unmodeled_collectives=None))
