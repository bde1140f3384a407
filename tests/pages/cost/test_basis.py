"""Sentences on what times are estimated by."""

from types import SimpleNamespace
from typing import Any

import pytest

from xlareport.pages.cost.basis import time_by_cycles_words


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
    assert time_by_cycles_words(cost) == words
