"""Putting things that have one key together."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def group_by_key(keyed: Iterable[tuple[Hashable, Item]]) -> dict[Hashable, list[Item]]:
    """Return the items of each key, keys and items in the order in which they came."""
    groups: dict[Hashable, list[Item]] = {}
    for key, item in keyed:
        groups.setdefault(key, []).append(item)
    return groups
