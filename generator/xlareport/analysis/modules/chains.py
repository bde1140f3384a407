"""How linked modules hang together: in groups, and in a longest chain."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_Ways = dict[str, list[str]]
"""To which others each one leads."""


@dataclass(frozen=True, slots=True)
class Chains:
    """What the links between modules come to; modules by their keys."""

    groups: tuple[tuple[str, ...], ...]
    """Modules that links join, directly or through others, the largest group first."""
    longest: tuple[str, ...]
    """Modules of which each takes results of the one before, most of them in a row."""


def find_chains(links: Iterable[tuple[str, str]]) -> Chains:
    """Follow (source, target) pairs; modules that feed one another in a circle count once."""
    onward: _Ways = {}
    back: _Ways = {}
    for source, target in sorted(set(links)):
        if source != target:
            _lead(onward, source, target)
            _lead(back, target, source)
    both = {text: [*onward[text], *back[text]] for text in onward}
    groups = sorted(map(sorted, _reached(both, both)), key=lambda item: -len(item))
    return Chains(tuple(map(tuple, groups)), _longest(onward, back))


def _lead(ways: _Ways, here: str, there: str) -> None:
    ways.setdefault(here, []).append(there)
    ways.setdefault(there, [])


def _longest(onward: _Ways, back: _Ways) -> tuple[str, ...]:
    """Return a longest chain: circles in an order in which none leads back, and the best so far.

    What is reached against the links, beginning with what was left last along them, is a circle.
    """
    left = [text for tree in _reached(onward, onward) for text in tree]
    name: dict[str, str] = {}
    length: dict[str, int] = {}
    before: dict[str, str | None] = {}
    for circle in _reached(reversed(left), back):
        sources = [source for text in circle for source in back[text] if source in length]
        last = max(sources, key=lambda source: length[source], default=None)
        length |= dict.fromkeys(circle, length[last] + 1 if last else 1)
        before |= dict.fromkeys(circle, last)
        name |= dict.fromkeys(circle, min(circle))
    chain: list[str] = []
    here = max(length, key=lambda text: length[text], default=None)
    while here:
        chain.append(name[here])
        here = before[here]
    return tuple(reversed(chain))


def _reached(starts: Iterable[str], ways: _Ways) -> Iterator[list[str]]:
    """Yield what each start reaches that none before did, each one after all it leads to."""
    seen: set[str] = set()
    for start in starts:
        left: list[str] = []
        path = [] if start in seen else [(start, iter(ways[start]))]
        seen.add(start)
        while path:
            here, others = path[-1]
            following = next((text for text in others if text not in seen), None)
            if following is None:
                left.append(here)
                path.pop()
            else:
                seen.add(following)
                path.append((following, iter(ways[following])))
        if left:
            yield left
