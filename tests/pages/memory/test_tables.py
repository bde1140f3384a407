"""Rows of values in memory say why they live."""

import pytest

from xlareport.analysis.cost.lifetimes import End, Lifetime
from xlareport.pages.memory.tables import why


@pytest.mark.parametrize(
    ("life", "words"),
    [
        (None, ""),
        (Lifetime(0, 9, 9, End.ARGUMENT, "", None, None), "an argument: the caller holds it"),
        (Lifetime(0, 9, 9, End.RESULT, "", None, None), "it is returned"),
        (Lifetime(0, 3, 9, End.USE, "dot.1", None, None), "used last by %dot.1"),
        (Lifetime(0, 3, 9, End.USE, "dot.1", 2, 4), "%dot.1 (operand 2), the last of 4 uses"),
    ],
)
def test_why_a_value_lives_so_long(life: Lifetime | None, words: str) -> None:
    assert words in why(life)
