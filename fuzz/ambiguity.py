"""Regular expressions whose time may grow faster than the text, found without running them.

A pattern is turned into an automaton with a state for each place that consumes a character. Where
the same text leads round one loop, from that loop into a later one, and round that one as well, the
matcher may try every split of it between the two: quadratic time at least (Weber and Seidl, On the
degree of ambiguity of finite automata, 1991). Looking for a pattern anywhere is a loop before it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from re import (  # type: ignore[attr-defined]  # the tree that re itself makes
    _compiler,
    _parser,
)
from re import _constants as sre  # type: ignore[attr-defined]
from typing import Any, Literal

import networkx as nx

_ALPHABET = [*map(chr, range(256)), "\u017f", "٣", "日", "\u2028", "\ud800", "K"]
_ALL = (1 << len(_ALPHABET)) - 1
_NEWLINE = 1 << ord("\n")
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_ENDLESS = 5_000
"""Repetitions from which on a repeat is a loop: fewer cost a factor, if a large one."""


@dataclass(slots=True, eq=False)
class Place:
    """A place of a pattern that consumes one of some characters, as bits of the alphabet."""

    takes: int
    after: dict["Place", int] = field(default_factory=dict)
    """What may be consumed next, and by which characters: a possessive loop leaves out its own."""
    twice: bool = False
    """Two nested loops lead from here to the same place."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern: where it may begin and end, and whether it may be empty."""

    first: tuple[tuple[Place, int], ...]
    last: tuple[tuple[Place, int], ...]
    """With the characters that may come next."""
    empty: bool


_NOTHING = _Part((), (), empty=True)


Growth = Literal["linear", "polynomial", "exponential"]


def growth(pattern: re.Pattern[Any], *, anywhere: bool) -> Growth:
    """Return how time may grow with the text, at the worst."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    builder = _Builder(pattern.flags)
    whole = builder.part(tree)
    if anywhere:
        builder.begin_anywhere(whole, tree)
    # what may end where it is never fails from there on, and so never tries another way
    ends = {one for one, _ in whole.last if anywhere or one.takes == _ALL}
    loops = [one for one in _loops(builder.places) if _loops(one - _only(ends, tree))]
    if any(one.twice for one in builder.places) or any(_is_twofold(one) for one in loops):
        return "exponential"
    pairs = ((one, other) for one in loops for other in loops if one is not other)
    return "polynomial" if any(_splits(*both) for both in pairs) else "linear"


def _only(ends: set[Place], tree: Any) -> set[Place]:
    """Return the ends where nothing has to follow the last character."""
    asks = len(tree) and tree[len(tree) - 1][0] in (sre.AT, sre.ASSERT, sre.ASSERT_NOT)
    return set() if asks else ends


class _Builder:
    """Makes the places of a pattern and joins them."""

    def __init__(self, flags: int) -> None:
        self._flags = flags
        self.places: list[Place] = []

    def part(self, tree: Iterable[tuple[Any, Any]]) -> _Part:
        """Join one step after the other."""
        whole = _NOTHING
        for operation, argument in tree:
            whole = _joined(whole, self._step(operation, argument))
        return whole

    def begin_anywhere(self, whole: _Part, tree: Any) -> None:
        """Put a loop over any character before the pattern, unless it begins at the beginning."""
        operation, anchor = tree[0] if len(tree) else (None, None)
        by_line = self._flags & re.MULTILINE and anchor is sre.AT_BEGINNING
        if anchor in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING) and not by_line:
            return
        last = before = self._place(_ALL)
        before.after[before] = _ALL
        if operation in (sre.AT, sre.ASSERT_NOT):
            last = self._place(_NEWLINE if by_line else self._letter_before(operation, anchor))
            before.after[last] = _ALL
        _joined(_Part((), ((last, _ALL),), empty=False), whole)

    def _letter_before(self, operation: Any, argument: Any) -> int:
        """Return the characters behind which a pattern can begin, by what it asks for first."""
        if operation is sre.ASSERT_NOT and argument[0] < 0 and len(argument[1]) == 1:
            return _ALL & ~self._taken(*argument[1][0])
        if operation is sre.AT and argument in (sre.AT_BOUNDARY, sre.AT_UNI_BOUNDARY):
            return _ALL & ~self._taken(sre.IN, [(sre.CATEGORY, sre.CATEGORY_WORD)])
        return _ALL

    def _step(self, operation: Any, argument: Any) -> _Part:
        if operation in _REPEATS:
            return self._repeat(argument, possessive=operation is sre.POSSESSIVE_REPEAT)
        if operation is sre.SUBPATTERN:
            return self.part(argument[3])
        if operation is sre.ATOMIC_GROUP:
            return self.part(argument)
        if operation is sre.BRANCH:
            return _either([self.part(one) for one in argument[1]])
        if operation in (sre.AT, sre.ASSERT, sre.ASSERT_NOT, sre.GROUPREF, sre.GROUPREF_EXISTS):
            return _NOTHING
        one = self._place(self._taken(operation, argument))
        return _Part(((one, _ALL),), ((one, _ALL),), empty=False)

    def _repeat(self, argument: tuple[int, int, Any], *, possessive: bool) -> _Part:
        fewest, most, tree = argument
        head = self.part(tree) if fewest > 1 else _NOTHING  # so that the loop has its own places
        body = self.part(tree)
        if most >= _ENDLESS:
            _again(body)
        last = body.last
        if possessive and most >= _ENDLESS:
            begins = 0
            for one, _ in body.first:
                begins |= one.takes
            last = tuple((one, may & ~begins) for one, may in body.last)
        return _joined(head, _Part(body.first, last, empty=body.empty or fewest == 0))

    def _place(self, takes: int) -> Place:
        self.places.append(Place(takes))
        return self.places[-1]

    def _taken(self, operation: Any, argument: Any) -> int:
        """Return which characters a step consumes, by asking the matcher itself."""
        state = _parser.State()
        state.flags = self._flags
        state.str = "" if self._flags & re.UNICODE else b""
        source = _parser.SubPattern(state, [(operation, argument)])
        one = _compiler.compile(source, self._flags & ~re.DEBUG)
        letters = _ALPHABET if self._flags & re.UNICODE else _ALPHABET[:256]
        return sum(1 << at for at, letter in enumerate(letters) if one.match(_as(state, letter)))


def _as(state: Any, letter: str) -> Any:
    return letter.encode("latin-1") if isinstance(state.str, bytes) else letter


def _joined(one: _Part, other: _Part) -> _Part:
    """Let one part come after another."""
    for last, may in one.last:
        for first, _ in other.first:
            last.after[first] = last.after.get(first, 0) | may
    return _Part(
        one.first + (other.first if one.empty else ()),
        other.last + (one.last if other.empty else ()),
        empty=one.empty and other.empty,
    )


def _again(body: _Part) -> None:
    """Let a part follow itself."""
    for last, may in body.last:
        for first, _ in body.first:
            last.twice |= bool(last.after.get(first, 0) & may & first.takes)
            last.after[first] = last.after.get(first, 0) | may


def _either(parts: Sequence[_Part]) -> _Part:
    return _Part(
        tuple(one for part in parts for one in part.first),
        tuple(one for part in parts for one in part.last),
        empty=any(part.empty for part in parts),
    )


def _loops(places: Collection[Place]) -> Sequence[frozenset[Place]]:
    """Return the sets of places that lead to one another and back."""
    graph = nx.DiGraph()
    for one in places:
        graph.add_edges_from(
            (one, next_)
            for next_, may in one.after.items()
            if may & next_.takes and next_ in places
        )
    found = map(frozenset, nx.strongly_connected_components(graph))
    return [one for one in found if len(one) > 1 or any(graph.has_edge(each, each) for each in one)]


def _is_twofold(loop: frozenset[Place]) -> bool:
    """Say whether the same text leads round a loop on two ways: exponential time."""
    graph = nx.DiGraph()
    for pair in product(loop, loop):
        graph.add_edges_from((pair, step) for step in _steps(pair, (loop, loop)))
    return any(
        any(a is b for a, b in one) and any(a is not b for a, b in one)
        for one in nx.strongly_connected_components(graph)
    )


def _splits(loop: frozenset[Place], later: frozenset[Place]) -> bool:
    """Say whether a text leads round one loop, over to the later one, and round that."""
    graph = nx.DiGraph()
    waiting: list[tuple[Place, ...]] = [(one, one, other) for one in loop for other in later]
    seen: set[tuple[Place, ...]] = set(waiting)
    ways = (loop, None, later)
    while waiting:
        place = waiting.pop()
        for step in _steps(place, ways):
            graph.add_edge(place, step)
            if step not in seen:
                seen.add(step)
                waiting.append(step)
    back = [((one, other, other), (one, one, other)) for one in loop for other in later]
    graph.add_edges_from(back)
    parts = {
        place: number
        for number, one in enumerate(nx.strongly_connected_components(graph))
        for place in one
    }
    return any(parts[end] == parts[start] for end, start in back)


def _steps(
    places: tuple[Place, ...], within: tuple[frozenset[Place] | None, ...]
) -> Iterator[tuple[Place, ...]]:
    """Yield where several ways are after the same character."""
    ways: list[tuple[tuple[Place, ...], int]] = [((), _ALL)]
    for place, loop in zip(places, within, strict=True):
        ways = [
            ((*before, one), common & may & one.takes)
            for before, common in ways
            for one, may in place.after.items()
            if common & may & one.takes and (loop is None or one in loop)
        ]
    for way, _ in ways:
        yield way
