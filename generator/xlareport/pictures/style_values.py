"""Colors and sizes of pictures: the table `style.toml`."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from xlareport.runtime.resources import read_toml


class PictureSizes(Struct, frozen=True):
    """Lengths in SVG user units; the table explains each."""

    character_width: float
    line_height: float
    padding_x: float
    padding_y: float
    stack_offset: float
    bar_height: float
    opening_width: float
    longest_line: int
    margin: float
    title_height: float
    narrowest: float
    baseline: float
    head_length: float
    head_angle: float
    legend_line: float
    legend_character: float
    legend_swatch: float
    legend_gap: float
    legend_words: int
    most_kinds: int


def sizes() -> PictureSizes:
    """Return the sizes of everything in a picture."""
    return PictureSizes(**_table()["sizes"])


class FoldingRules(Struct, frozen=True):
    """The instructions that are folded into the boxes of their users; the table explains each."""

    bookkeeping: frozenset[str]
    spreading: frozenset[str]
    large_input: int


@cache
def folding_rules() -> FoldingRules:
    """Return the opcodes that need no box of their own, and the elements of a large input."""
    rules = _table()["folding"]
    return FoldingRules(
        frozenset(rules["bookkeeping"]), frozenset(rules["spreading"]), rules["large_input"]
    )


def dashes() -> Mapping[str, str]:
    """Return the dash pattern of the border of each state."""
    return dict(_table()["dashes"])


def fixed() -> Mapping[str, str]:
    """Return the colors that are the same in both schemes."""
    return dict(_table()["fixed"])


def light() -> Mapping[str, str]:
    """Return the colors of the light scheme by the names of their custom properties."""
    return dict(_flat(_table()["light"]))


def dark() -> Mapping[str, str]:
    """Return the colors of the dark scheme by the names of their custom properties."""
    return dict(_flat(_table()["dark"]))


def palette(name: str) -> tuple[str, ...]:
    """Return the light colors of `heat` or `tint`, from the first level on."""
    return tuple(_table()["light"][name])


@cache
def _table() -> dict[str, Any]:
    return read_toml(__package__, "style.toml")


def _flat(colors: Mapping[str, str | list[str]]) -> Iterator[tuple[str, str]]:
    """Yield names and colors; those of a list get the numbers of their levels."""
    for name, value in colors.items():
        if isinstance(value, str):
            yield name, value
        else:
            yield from ((f"{name}-{level}", color) for level, color in enumerate(value))
