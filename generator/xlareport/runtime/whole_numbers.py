"""Whole numbers as they are written in a dump: digits, or what only looks like them."""

_MOST_DIGITS = 18
"""Digits: what fits into XLA's int64. Python refuses to read more than 4300."""


def parse_whole_number(text: str) -> int | None:
    """Return the number that the text is; None for any other text, and for too many digits."""
    return int(text) if len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit() else None
