"""Grouping of items by key, and what sequences begin with in common."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Other = TypeVar("Other")


def group_by_key(keyed: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Return the items of each key, in the order of their first appearance."""
    groups: dict[Key, list[Item]] = {}
    for key, item in keyed:
        groups.setdefault(key, []).append(item)
    return groups


def common_prefix(paths: Iterable[Sequence[Key]]) -> tuple[Key, ...]:
    """Return the items that all paths begin with; none of no paths."""
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    return tuple(level[0] for level in levels)


def sole_pairs(
    old: Iterable[tuple[Hashable, Item]], new: Iterable[tuple[Hashable, Other]]
) -> Iterator[tuple[Item, Other]]:
    """Yield the items of each key that either side has once, in the order of the old ones."""
    theirs = group_by_key(new)
    for key, ours in group_by_key(old).items():
        others = theirs.get(key, ())
        if key is not None and len(ours) == len(others) == 1:
            yield ours[0], others[0]
