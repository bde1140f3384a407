"""Text and numbers as they may stand in SVG."""

from functools import lru_cache
from html import escape


def text(value: str) -> str:
    """Return the text escaped, with only printable characters and line ends left of it."""
    if not value.replace("\n", "").isprintable():
        value = "".join(text if text.isprintable() or text == "\n" else " " for text in value)
    return escape(value)


def attribute(value: str) -> str:
    """Return a quoted attribute value."""
    return f'"{text(value)}"'


@lru_cache(maxsize=1 << 16)
def number(value: float) -> str:
    """Return a length to a tenth of a unit, as short as it goes: `12`, `3.5`."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
