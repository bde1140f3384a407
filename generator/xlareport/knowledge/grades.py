"""How sure a claim of the report is: the three grades, and which of several is the weakest."""

from collections.abc import Iterable
from enum import StrEnum


class Grade(StrEnum):
    """How sure a claim is, the surest first."""

    EXACT = "exact"
    """Read off or proved: the same line, or the same expression over the same values."""
    MATCHED = "matched"
    """Two kinds of good evidence, and none against."""
    GUESSED = "guessed"
    """The best candidate left; shown as a guess."""


def doubt(grade: str) -> int:
    """Return the place of a grade in their order: 0 for exact, 2 for guessed."""
    return _DOUBT[grade]


_DOUBT: dict[str, int] = {grade: place for place, grade in enumerate(Grade)}


def weakest(grades: Iterable[str], default: Grade = Grade.EXACT) -> Grade:
    """Return the least sure of some grades, `default` if there are none."""
    return Grade(max(grades, key=doubt, default=default))
