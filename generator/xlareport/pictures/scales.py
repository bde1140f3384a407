"""The color modes of a picture besides opcodes: which colors they have, where each begins.

The page script gives boxes their colors (frontend/src/pictures/scales.js); those of scopes are
made here as well, for what is no picture.
"""

import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from xlareport.pictures.metrics import shorten
from xlareport.pictures.shade import stem
from xlareport.pictures.style_values import sizes
from xlareport.runtime.resources import read_toml

MOST_KINDS = sizes().most_kinds
"""Colors for things without an order; the rest shares the last one."""

_OTHERS = "others"
_LONGEST_WORDS = sizes().legend_words


def palettes() -> Mapping[str, tuple[str, int]]:
    """Return the palette of each mode, and the number of its colors.

    `heat` is for ordered values, `tint` for kinds.
    """
    heat = {mode: ("heat", len(table["words"])) for mode, table in limits().items()}
    return heat | dict.fromkeys(("scope", "sharding"), ("tint", MOST_KINDS))


@cache
def limits() -> Mapping[str, Mapping[str, list[str]]]:
    """Return where the colors of figures begin, and their words, by mode."""
    return read_toml(__package__, "scales.toml")


def scope_levels(
    scopes: Mapping[str, tuple[str, ...]],
) -> tuple[Mapping[str, int], Sequence[str]]:
    """Return the color of each item by its scope, and the words of the colors.

    The most frequent scopes come first; a single scope for all has no color.
    """
    paths = _scopes(scopes)
    names = [name for name, _ in Counter(filter(None, paths.values())).most_common()]
    if len(names) < 2:
        return {}, ()
    numbers = {name: min(place, MOST_KINDS - 1) for place, name in enumerate(names)}
    levels = {thing: numbers[path] for thing, path in paths.items() if path in numbers}
    return levels, list(_kind_words(names))


def _kind_words(names: Sequence[str]) -> Iterator[str]:
    """Yield the letter and the name of each kind."""
    for place, name in enumerate(names[:MOST_KINDS]):
        last = place == MOST_KINDS - 1 and len(names) > MOST_KINDS
        words = _OTHERS if last else shorten(name, _LONGEST_WORDS)
        yield f"{string.ascii_uppercase[place]} {words}"


def _scopes(scopes: Mapping[str, tuple[str, ...]]) -> Mapping[str, str]:
    """Return the scope of each item at the greatest depth with enough colors; layers are merged."""
    paths = {thing: tuple(map(stem, scope)) for thing, scope in scopes.items()}
    deepest = max(map(len, paths.values()), default=0)
    best = _cut(paths, 1)
    for depth in range(2, deepest + 1):
        deeper = _cut(paths, depth)
        if len(set(deeper.values())) > MOST_KINDS:
            break
        best = deeper
    return best


def _cut(paths: Mapping[str, tuple[str, ...]], depth: int) -> Mapping[str, str]:
    return {thing: "/".join(path[:depth]) for thing, path in paths.items()}
