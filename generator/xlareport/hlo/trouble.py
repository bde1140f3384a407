"""Problems in a text: where, what was expected, and a drawing of the place."""

from xlareport.runtime.errors import Problem

_BEFORE, _AFTER = 50, 30
"""How many characters a drawing shows on each side of the place."""


def trouble(line: int, text: str, place: int, message: str) -> Problem:
    """Return a problem without a path; `place` counts characters of `text` from 0.

    `text` may go on over several lines; the problem points to the line that holds the place.
    """
    place = min(place, len(text))
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    shown = text[start : end if end >= 0 else len(text)]
    drawn = f"{message}\n{draw(shown, place - start)}"
    return Problem("", line + text.count("\n", 0, place), drawn, place - start + 1)


def draw(text: str, place: int) -> str:
    """Return the text about a place and, below it, a mark that points at it."""
    start = max(0, place - _BEFORE)
    cut = text[start : place + _AFTER].replace("\t", " ")
    dots = "..." if start else ""
    more = "..." if place + _AFTER < len(text) else ""
    return f"{dots}{cut}{more}\n{' ' * (len(dots) + place - start)}^"
