"""Grouping of items by key."""

from collections.abc import Hashable, Iterable, Iterator
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


def sole_pairs(
    old: Iterable[tuple[Hashable, Item]], new: Iterable[tuple[Hashable, Other]]
) -> Iterator[tuple[Item, Other]]:
    """Yield the items of each key that either side has once, in the order of the old ones."""
    theirs = group_by_key(new)
    for key, ours in group_by_key(old).items():
        others = theirs.get(key, ())
        if key is not None and len(ours) == len(others) == 1:
            yield ours[0], others[0]
