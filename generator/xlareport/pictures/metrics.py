"""The size of text: a monospace font needs no font file to measure it.

Lengths are SVG user units, which are also Graphviz's points.
"""

import unicodedata
from functools import lru_cache

from xlareport.pictures.drawing import Box
from xlareport.pictures.style_values import sizes

_SIZES = sizes()
CHARACTER_WIDTH = _SIZES.character_width
LINE_HEIGHT = _SIZES.line_height
PADDING_X = _SIZES.padding_x
PADDING_Y = _SIZES.padding_y
STACK_OFFSET = _SIZES.stack_offset
BAR_HEIGHT = _SIZES.bar_height
OPENING_WIDTH = _SIZES.opening_width
LONGEST_LINE = _SIZES.longest_line


@lru_cache(maxsize=1 << 16)
def text_columns(text: str) -> int:
    """Return how many character cells the text takes: wide characters two, marks none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def text_width(text: str) -> float:
    """Return the width of a line."""
    return text_columns(text) * CHARACTER_WIDTH


def _columns(character: str) -> int:
    """Return the width of a character in terminal columns."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, columns: int = LONGEST_LINE) -> str:
    """Cut the middle out of a text that takes more cells than `columns`."""
    if len(text) <= columns and (text.isascii() or text_columns(text) <= columns):
        return text
    tail = (columns - 1) // 3
    if text.isascii():
        return f"{text[: columns - 1 - tail]}…{text[len(text) - tail :]}"
    return _head(text, columns - 1 - tail) + "…" + _head(text[: -tail - 1 : -1], tail)[::-1]


def _head(text: str, columns: int) -> str:
    """Return the longest beginning that fits."""
    taken = 0
    for position, character in enumerate(text):
        taken += _columns(character)
        if taken > columns:
            return text[:position]
    return text


def node_size(node: Box) -> tuple[float, float]:
    """Return width and height of a box with its text."""
    text = max(map(text_width, node.lines), default=0.0)
    behind = STACK_OFFSET if node.shape == "stack" else 0.0
    bar = BAR_HEIGHT + 2 if node.mix else 0.0
    return (
        round(max(text + 2 * PADDING_X, OPENING_WIDTH * len(node.opens)) + behind, 1),
        round(len(node.lines) * LINE_HEIGHT + 2 * PADDING_Y + bar + behind, 1),
    )
