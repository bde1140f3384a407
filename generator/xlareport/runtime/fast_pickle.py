"""Records of which thousands travel between processes."""

from operator import attrgetter
from typing import Any


class FastPickle:
    """A frozen dataclass with slots, two fields or more, that travels as the values of its fields.

    What dataclasses do by themselves asks for the list of fields at both ends, which takes twice as
    long.
    """

    __slots__: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Return the constructor and its arguments."""
        return type(self), attrgetter(*self.__slots__)(self)
