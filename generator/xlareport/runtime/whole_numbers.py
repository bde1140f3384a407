"""Whole numbers: read as a dump writes them, and rounded up to a multiple."""

_MOST_DIGITS = 18
"""Digits: what fits into XLA's int64. Python refuses to read more than 4300."""


def parse_whole_number(text: str) -> int | None:
    """Return the number that the text is; None for any other text, and for too many digits."""
    return int(text) if len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit() else None


def round_up(number: int, multiple: int) -> int:
    """Return the smallest multiple that is not below a number."""
    return -(-number // multiple) * multiple
