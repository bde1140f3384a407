"""Stretches of a sequence that follow one another and are alike: layers that no scope names."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SHORTEST_PERIOD = 2
_FEWEST = 3
_SHORTEST = 12
"""Things that a repeat covers at least."""

_CANDIDATES = 10
_ROW = 8
"""Things in a row that tell the period of layers in which smaller things repeat themselves."""

_TOO_FREQUENT = 400
"""Occurrences from which on a thing says nothing about periods."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """From `start` on, `count` stretches of `period` things are alike."""

    start: int
    period: int
    count: int

    @property
    def end(self) -> int:
        """Where the last stretch ends."""
        return self.start + self.period * self.count


def find_repeat(things: Sequence[Hashable]) -> Repeat | None:
    """Return the repeat that covers most of a sequence; None where none is long enough."""
    repeats = [repeat for period in _periods(things) if (repeat := _longest(things, period))]
    return max(
        repeats, key=lambda repeat: (repeat.end - repeat.start, -repeat.period), default=None
    )


def _periods(things: Sequence[Hashable]) -> list[int]:
    """Return the distances at which the same thing, or the same row, most often stands again."""
    rows = [tuple(things[at : at + _ROW]) for at in range(len(things) - _ROW + 1)]
    return list(dict.fromkeys(_distances(rows) + _distances(things)))


def _distances(things: Sequence[Hashable]) -> list[int]:
    places: dict[Hashable, list[int]] = {}
    for place, thing in enumerate(things):
        places.setdefault(thing, []).append(place)
    distances: Counter[int] = Counter()
    for item in places.values():
        if _FEWEST <= len(item) <= _TOO_FREQUENT:
            distances.update(b - a for a, b in pairwise(item))
    long = Counter({number: n for number, n in distances.items() if number >= _SHORTEST_PERIOD})
    return [number for number, _ in long.most_common(_CANDIDATES)]


def _longest(things: Sequence[Hashable], period: int) -> Repeat | None:
    """Return the longest stretch in which each thing stands again one period later."""
    best, run = Repeat(0, period, 0), 0
    for place in range(len(things) - period):
        run = run + 1 if things[place] == things[place + period] else 0
        count = run // period + 1
        if count > best.count:
            best = Repeat(place - run + 1, period, count)
    long = best.count >= _FEWEST and best.count * period >= _SHORTEST
    return _shortened(things, best) if long else None


def _shortened(things: Sequence[Hashable], repeat: Repeat) -> Repeat:
    """Return the repeat with the shortest period that it has."""
    first = things[repeat.start : repeat.start + repeat.period]
    for period in range(1, repeat.period):
        if repeat.period % period == 0 and first[period:] == first[:-period]:
            return Repeat(repeat.start, period, repeat.count * repeat.period // period)
    return repeat
