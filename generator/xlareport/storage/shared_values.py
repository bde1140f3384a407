"""Equal values as one object: what thousands of modules have in common is in memory once."""

from collections.abc import Hashable
from typing import Any, TypeVar

H = TypeVar("H", bound=Hashable)

_MOST_VALUES = 1_000
"""Limit on remembered values; at the limit all are forgotten, since most are of one module."""


class SharedValues:
    """Recent values, each once.

    For values without numbers that are equal and yet differ in type, such as 1 and 1.0.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def share(self, value: H) -> H:
        """Return the first value that was equal to this one, or a later one."""
        if len(self._known) >= _MOST_VALUES:
            self._known.clear()
        known: H = self._known.setdefault(value, value)
        return known

    def share_each(self, values: tuple[H, ...]) -> tuple[H, ...]:
        """Return equal values, each the first of its kind, in a tuple that is shared as well."""
        return self.share(tuple(self.share(value) for value in values))
