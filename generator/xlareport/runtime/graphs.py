"""Walks through graphs of any depth without recursion: what is reached, and in which order."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

N = TypeVar("N", bound=Hashable)
T = TypeVar("T")

Successors = Callable[[N], Iterable[N]]
"""Returns the nodes that a node leads to."""


def reachable(starts: Iterable[N], successors: Successors[N]) -> Iterator[N]:
    """Yield the starts and all that they lead to, each once, depth first."""
    seen: set[N] = set()
    pending = [*reversed([*starts])]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            yield node
            pending += reversed([*successors(node)])


def nearest_first(starts: Iterable[N], successors: Successors[N]) -> Iterator[N]:
    """Yield the starts and all that they lead to, each once, those fewest edges away first."""
    pending = deque(dict.fromkeys(starts))
    seen = {*pending}
    while pending:
        node = pending.popleft()
        yield node
        for following in successors(node):
            if following not in seen:
                seen.add(following)
                pending.append(following)


def neighbors(edges: Iterable[tuple[N, N]]) -> Mapping[N, Sequence[N]]:
    """Return the nodes on the other ends of the edges of each node, whichever end it is."""
    near: dict[N, list[N]] = {}
    for source, target in edges:
        near.setdefault(source, []).append(target)
        near.setdefault(target, []).append(source)
    return near


def postorder(starts: Iterable[N], successors: Successors[N]) -> Iterator[N]:
    """Yield the starts and all that they lead to, each once, after all that it leads to itself.

    In a cycle the edge that closes it is ignored.
    """
    return chain.from_iterable(forest(starts, successors))


def forest(starts: Iterable[N], successors: Successors[N]) -> Iterator[list[N]]:
    """Yield for each start what no earlier one reached, in the order of `postorder`."""
    seen: set[N] = set()
    for start in starts:
        if start not in seen:
            yield [*_tree(start, successors, seen)]


def _tree(start: N, successors: Successors[N], seen: set[N]) -> Iterator[N]:
    seen.add(start)
    path = [(start, iter(successors(start)))]
    while path:
        node, others = path[-1]
        following = next((other for other in others if other not in seen), None)
        if following is None:
            yield node
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(successors(following))))


def descend(roots: Iterable[T], children: Callable[[T], Sequence[T]]) -> Iterator[T]:
    """Yield the nodes of trees, parents first, in order."""
    pending = [*reversed([*roots])]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(children(node))
