"""The time that collectives hide together at most, with each piece of work beside one at a time.

A collective can hide no more than its own time, and a piece of work no more than its own. The
largest sum under both limits is the maximum flow from collectives to the work independent of them.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.collectives.schedule import Overlap

_MOST_COLLECTIVES = 60
"""Of a computation, the longest; the others count as if they had work of their own."""
_SMALLEST = 1e-12
"""Seconds."""


class Waiting(Struct, frozen=True):
    """A collective with its modeled time."""

    seconds: float
    overlap: Overlap


def most_hidden_later(waiting: Iterable[Waiting], times: Mapping[str, float]) -> float:
    """Return the seconds of one execution that more overlap hides, each piece of work used once.

    `times` are of the work. That is the most that can be hidden less what is hidden now.
    """
    ranked = sorted(waiting, key=lambda item: -(item.overlap.hideable_seconds or 0.0))
    first, rest = ranked[:_MOST_COLLECTIVES], ranked[_MOST_COLLECTIVES:]
    limits = [item.seconds for item in first]
    most = maximum_flow(limits, [item.overlap.independent for item in first], times)
    now = maximum_flow(limits, [item.overlap.between or () for item in first], times)
    return most - now + sum(item.overlap.hideable_seconds or 0.0 for item in rest)


def maximum_flow(
    limits: Sequence[float], work: Sequence[Iterable[str]], times: Mapping[str, float]
) -> float:
    """Return the most seconds that work hides of collectives with such limits, each within both.

    Work that is independent of the same collectives counts together.
    """
    collectives: dict[str, int] = defaultdict(int)
    for number, names in enumerate(work):
        for name in names:
            collectives[name] |= 1 << number
    left: dict[int, float] = defaultdict(float)
    for name, members in collectives.items():
        left[members] += times.get(name, 0.0)
    wanted = list(limits)
    used: dict[tuple[int, int], float] = defaultdict(float)
    hidden = 0.0
    while (path := _path(wanted, left, used)) is not None:
        hidden += _augment(path, wanted, left, used)
    return hidden


def _path(
    wanted: Sequence[float], left: Mapping[int, float], used: Mapping[tuple[int, int], float]
) -> list[tuple[int, int]] | None:
    """Return (collective, group) pairs from a collective with time to hide to a group with some."""
    pending = deque(number for number, seconds in enumerate(wanted) if seconds > _SMALLEST)
    parents: dict[int, tuple[int, int] | None] = dict.fromkeys(pending)
    seen: set[int] = set()
    while pending:
        number = pending.popleft()
        for members in left:
            if members in seen or not members >> number & 1:
                continue
            seen.add(members)
            if left[members] > _SMALLEST:
                return _traced(parents, (number, members))
            for other in range(len(wanted)):
                if other not in parents and used.get((other, members), 0.0) > _SMALLEST:
                    parents[other] = (number, members)
                    pending.append(other)
    return None


def _traced(
    parents: Mapping[int, tuple[int, int] | None], last: tuple[int, int]
) -> list[tuple[int, int]]:
    path = [last]
    while (step := parents[path[-1][0]]) is not None:
        path.append(step)
    return path[::-1]


def _augment(
    path: Sequence[tuple[int, int]],
    wanted: list[float],
    left: dict[int, float],
    used: dict[tuple[int, int], float],
) -> float:
    """Hide as much as a path allows and return it; others give a group up for the next."""
    given_up = [(path[place + 1][0], path[place][1]) for place in range(len(path) - 1)]
    amount = min(
        wanted[path[0][0]], left[path[-1][1]], *(used[pair] for pair in given_up), float("inf")
    )
    for pair in path:
        used[pair] += amount
    for pair in given_up:
        used[pair] -= amount
    wanted[path[0][0]] -= amount
    left[path[-1][1]] -= amount
    return amount
