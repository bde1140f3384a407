"""Grouping of items by key."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def group_by_key(keyed: Iterable[tuple[Hashable, Item]]) -> dict[Hashable, list[Item]]:
    """Return the items of each key, in the order of their first appearance."""
    groups: dict[Hashable, list[Item]] = {}
    for key, item in keyed:
        groups.setdefault(key, []).append(item)
    return groups
