"""Rows of values in memory say why they live."""

import pytest

from xlareport.analysis.cost.lifetimes import End, Lifetime
from xlareport.pages.memory.tables import why


@pytest.mark.parametrize(
    ("life", "words"),
    [
        (None, ""),
        (Lifetime(0, 9, 9, End.ARGUMENT, "", None, None), "entry parameter"),
        (Lifetime(0, 9, 9, End.RESULT, "", None, None), "output"),
        (Lifetime(0, 3, 9, End.USE, "dot.1", None, None), "last use: %dot.1"),
        (
            Lifetime(0, 3, 9, End.USE, "while.1", None, 2, ("tuple.5", 3)),
            "last use: %tuple.5 (operand 3), 2 uses; its memory is shared and in use up to %while",
        ),
        (Lifetime(0, 3, 9, End.USE, "while.1", None, 0), "no use; its memory is shared and in use"),
        (Lifetime(0, 3, 9, End.USE, "dot.1", 2, 4), "%dot.1 (operand 2), 4 uses"),
    ],
)
def test_why_a_value_lives_so_long(life: Lifetime | None, words: str) -> None:
    assert words in why(life)
