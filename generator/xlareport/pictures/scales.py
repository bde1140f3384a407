"""The colour modes of a picture besides opcodes: the colour of each box, and what it means.

A mode is there only where it would tell boxes apart. In each the boxes bear marks as well, a figure
or a letter, so that nobody depends on the colours.
"""

import string
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from xlareport.pictures.drawing import Box, Drawing
from xlareport.pictures.metrics import shorten
from xlareport.pictures.scopes import stem
from xlareport.pictures.style_values import sizes
from xlareport.runtime import units

Mode = Literal["cost", "time", "memory", "scope", "sharding"]

_HEATED: tuple[Mode, ...] = ("cost", "time", "memory")
_KINDS: tuple[Mode, ...] = ("scope", "sharding")

MOST_KINDS = sizes().most_kinds
"""Colors for things without an order; the rest shares the last one."""

_OTHERS = "others"
_LONGEST_WORDS = sizes().legend_words


@dataclass(frozen=True, slots=True)
class Scale:
    """One mode of one picture."""

    mode: Mode
    palette: str
    """`heat` for what has an order, `tint` for kinds."""
    levels: Mapping[str, int]
    """The colour of each box by its id; boxes that have none are not known."""
    marks: Mapping[str, str]
    """What stands on each box."""
    words: Mapping[int, str]
    """What the colours in use mean."""


def every_scale() -> tuple[Scale, ...]:
    """Return the modes with all their colours and no boxes, for a style sheet of any picture."""
    words = {mode: dict(enumerate(limits()[mode]["words"])) for mode in _HEATED}
    heat = (Scale(mode, "heat", {}, {}, word) for mode, word in words.items())
    tint = (Scale(mode, "tint", {}, {}, dict.fromkeys(range(MOST_KINDS), "")) for mode in _KINDS)
    return (*heat, *tint)


def scales(drawing: Drawing) -> tuple[Scale, ...]:
    """Return the modes in which a drawing says something."""
    result = (
        _ordered("cost", {node.id: node.shade.cost for node in drawing.nodes}, units.share),
        _ordered("time", {node.id: node.shade.time for node in drawing.nodes}, units.share),
        _ordered("memory", {node.id: node.shade.memory for node in drawing.nodes}, units.byte_size),
        _kinds("scope", _scopes(drawing.nodes)),
        _kinds("sharding", {node.id: node.shade.sharding for node in drawing.nodes}),
    )
    return tuple(scale for scale in result if scale.levels)


def _ordered(
    mode: Mode, values: Mapping[str, float | None], written: Callable[[float], str]
) -> Scale:
    """Return the scale of figures, by the limits of the table."""
    table = limits()[mode]
    levels = {
        box: bisect_right(table["from"], value) - 1
        for box, value in values.items()
        if value is not None
    }
    marks = {box: written(value) for box, value in values.items() if value is not None}
    used = sorted(set(levels.values()))
    return Scale(mode, "heat", levels, marks, {number: table["words"][number] for number in used})


def _kinds(mode: Mode, values: Mapping[str, str]) -> Scale:
    """Return the scale of things without an order, the most frequent ones first."""
    counts = Counter(value for value in values.values() if value)
    names = [name for name, _ in counts.most_common()]
    if mode == "scope" and len(names) < 2:
        names = []
    numbers = {name: min(place, MOST_KINDS - 1) for place, name in enumerate(names)}
    levels = {box: numbers[value] for box, value in values.items() if value in numbers}
    return Scale(
        mode,
        "tint",
        levels,
        {box: string.ascii_uppercase[level] for box, level in levels.items()},
        dict(enumerate(_kind_words(names))),
    )


def _kind_words(names: Sequence[str]) -> Iterator[str]:
    """Yield the letter and the name of each kind."""
    for place, name in enumerate(names[:MOST_KINDS]):
        last = place == MOST_KINDS - 1 and len(names) > MOST_KINDS
        words = _OTHERS if last else shorten(name, _LONGEST_WORDS)
        yield f"{string.ascii_uppercase[place]} {words}"


def _scopes(nodes: Iterable[Box]) -> Mapping[str, str]:
    """Return the scope of each box, as deep as colours last; layers count as one."""
    paths = {node.id: tuple(map(stem, node.shade.scope)) for node in nodes}
    deepest = max(map(len, paths.values()), default=0)
    best = _cut(paths, 1)
    for depth in range(2, deepest + 1):
        deeper = _cut(paths, depth)
        if len(set(deeper.values())) > MOST_KINDS:
            break
        best = deeper
    return best


def _cut(paths: Mapping[str, tuple[str, ...]], depth: int) -> Mapping[str, str]:
    return {box: "/".join(path[:depth]) for box, path in paths.items()}


@cache
def limits() -> Mapping[str, Mapping[str, list[str]]]:
    """Return where the colours of figures begin, and their words, by mode."""
    return tomllib.loads(files(__package__).joinpath("scales.toml").read_text("utf-8"))
