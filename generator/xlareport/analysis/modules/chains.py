"""Groups of linked modules, and the longest chain of links."""

from collections.abc import Iterable

from msgspec import Struct

from xlareport.runtime.graphs import forest, postorder

_Ways = dict[str, list[str]]
"""Successors by key."""


class Chains(Struct, frozen=True):
    """The groups and chains that links between modules form; modules by their keys."""

    groups: tuple[tuple[str, ...], ...]
    """Modules connected by links, directly or indirectly, the largest group first."""
    longest: tuple[str, ...]
    """The longest sequence of modules in which each reads results of the previous one."""


def find_chains(links: Iterable[tuple[str, str]]) -> Chains:
    """Return the groups and the longest chain of (source, target) pairs; a cycle counts once."""
    onward: _Ways = {}
    back: _Ways = {}
    for source, target in sorted(set(links)):
        if source != target:
            _add_link(onward, source, target)
            _add_link(back, target, source)
    both = {module: [*onward[module], *back[module]] for module in onward}
    groups = sorted(map(sorted, forest(both, both.__getitem__)), key=lambda group: -len(group))
    return Chains(tuple(map(tuple, groups)), _longest(onward, back))


def _add_link(ways: _Ways, here: str, there: str) -> None:
    ways.setdefault(here, []).append(there)
    ways.setdefault(there, [])


def _longest(onward: _Ways, back: _Ways) -> tuple[str, ...]:
    """Return a longest chain: circles in an order in which none leads back, and the best so far.

    Kosaraju's algorithm: what is reached against the links, beginning with what was left last along
    them, is a circle.
    """
    order = [*postorder(onward, onward.__getitem__)]
    name: dict[str, str] = {}
    length: dict[str, int] = {}
    before: dict[str, str | None] = {}
    for circle in forest(reversed(order), back.__getitem__):
        sources = [source for module in circle for source in back[module] if source in length]
        last = max(sources, key=length.__getitem__, default=None)
        length |= dict.fromkeys(circle, length[last] + 1 if last else 1)
        before |= dict.fromkeys(circle, last)
        name |= dict.fromkeys(circle, min(circle))
    chain: list[str] = []
    here = max(length, key=length.__getitem__, default=None)
    while here:
        chain.append(name[here])
        here = before[here]
    return tuple(reversed(chain))
