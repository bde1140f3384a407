"""Strings that differ in numbers only, written as few patterns and the numbers between them.

`%add.7` after `%add.6` is the pattern `%add.` and a step of one. Unlike gzip, which looks back 32
KB, this finds a pattern at any distance.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from operator import sub

from msgspec import Struct, field

SLOT = "\x7f"
"""Placeholder for a number in a pattern."""
_NUMBER = re.compile(r"([0-9](?:(?<=[1-9])[0-9]{0,8})?)")
"""Numbers with only one spelling that fit in 32 bits: `007` is three numbers.

The expression begins with a digit class, because a search for a first character is fast.
"""
_LARGEST = 10**9
_MOST_SLOTS = 40
"""Limit on numbers in a string; a string with more, such as a constant, is its own pattern."""

Pattern = str | list[str]
"""A string with slots; in a list, one that represents itself."""


class FoldingError(ValueError):
    """Folded strings are damaged."""


class Folded(Struct):
    """Strings as patterns: the pattern of each string, and the numbers in its slots."""

    patterns: list[Pattern] = field(default_factory=list)
    uses: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """By pattern and slot, each as the difference from the previous string."""

    def listed(self) -> list[list[Pattern] | list[int]]:
        """Return it for a payload."""
        return [self.patterns, self.uses, self.numbers]


def fold_strings(strings: Sequence[str]) -> Folded:
    """Fold strings; any string comes back as it was."""
    folded = Folded()
    known: dict[str | tuple[str], tuple[int, list[list[int]]]] = {}
    taken_apart: dict[str, tuple[int, list[list[int]], list[int]]] = {}
    uses = folded.uses
    for string in strings:
        parts = taken_apart.get(string)
        if parts is None:
            key, numbers = _taken_apart(string)
            pattern = known.get(key)
            if pattern is None:
                pattern = known[key] = len(known), []
            parts = taken_apart[string] = (*pattern, numbers)
        number, rows, numbers = parts
        rows.append(numbers)
        uses.append(number)
    for key, (_, rows) in known.items():
        folded.patterns.append(key if isinstance(key, str) else [*key])
        folded.numbers += _distances(rows)
    return folded


def _distances(rows: Sequence[Sequence[int]]) -> Iterable[int]:
    """Return the numbers slot by slot, each as distance from that of the row before."""
    if len(rows) == 1:  # as most patterns have
        return rows[0]
    columns = zip(*rows, strict=True)
    return chain.from_iterable(map(sub, column, (0, *column)) for column in columns)


def _taken_apart(string: str) -> tuple[str | tuple[str], list[int]]:
    """Return the pattern and the numbers of a string; in a tuple, what represents itself."""
    if SLOT in string:
        return (string,), []
    parts = _NUMBER.split(string, _MOST_SLOTS)
    if len(parts) > 2 * _MOST_SLOTS:
        return string, []
    return SLOT.join(parts[::2]), [*map(int, parts[1::2])]


def unfold_strings(folded: Folded, room: int) -> list[str]:
    """Return the strings; raises FoldingError, also where they have more than `room` characters."""
    counts = [0] * len(folded.patterns)
    for number in folded.uses:
        if not 0 <= number < len(counts):
            raise FoldingError("a string has a pattern that is not there")
        counts[number] += 1
    numbers = iter(folded.numbers)
    pairs = zip(folded.patterns, counts, strict=True)
    rows = [_filled(_parts(pattern), count, numbers) for pattern, count in pairs]
    if next(numbers, None) is not None:
        raise FoldingError("there are more numbers than slots")
    strings: list[str] = []
    for number in folded.uses:
        strings.append(next(rows[number]))
        room -= len(strings[-1])
        if room < 0:
            raise FoldingError("the strings are too long")
    return strings


def _parts(pattern: Pattern) -> list[str]:
    return pattern.split(SLOT) if isinstance(pattern, str) else ["".join(pattern)]


def _filled(parts: Sequence[str], count: int, numbers: Iterator[int]) -> Iterator[str]:
    """Return the strings of one pattern; its numbers are consumed at once."""
    slots = [_slot(list(islice(numbers, count)), count) for _ in parts[1:]]
    if not slots or not count:
        return iter([parts[0]] * count)
    shape = "%s".join(part.replace("%", "%%") for part in parts)
    return (shape % row for row in zip(*slots, strict=True))


def _slot(steps: Sequence[int], count: int) -> list[int]:
    if len(steps) != count:
        raise FoldingError("there are fewer numbers than slots")
    result = list(accumulate(steps))
    if min(result, default=0) < 0 or max(result, default=0) > _LARGEST:
        raise FoldingError("a number is out of bounds")
    return result
