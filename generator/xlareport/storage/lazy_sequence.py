"""A sequence whose values are made or read on access."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class LazySequence(Sequence[T_co], Generic[T_co]):
    """A sequence that needs a length and the value at a place, from 0; slices are lists."""

    __slots__ = ()

    @abstractmethod
    def value_at(self, place: int) -> T_co:
        """Return the value at a place of the sequence, 0 to the length less one."""

    @overload
    def __getitem__(self, place: int) -> T_co: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T_co]: ...
    def __getitem__(self, place: int | slice) -> T_co | Sequence[T_co]:
        if place.__class__ is int and 0 <= place < len(self):  # in most cases
            return self.value_at(place)
        places = range(len(self))[place]
        if isinstance(places, range):
            return [self.value_at(number) for number in places]
        return self.value_at(places)
