"""Values by keys, and places of equal values, in few bytes each: for what comes by the million.

A dictionary of strings has objects of some hundred bytes for each; here a key has its characters
and three numbers.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from typing import Generic, TypeVar

from xlareport.storage.lazy_sequence import LazySequence
from xlareport.storage.spooled_values import SMALL_RESIDENT

T = TypeVar("T")


class PackedStrings(LazySequence[str]):
    """Strings one behind the other."""

    def __init__(self, strings: Iterable[str] = ()) -> None:
        self._written = bytearray()
        self._ends = array("q", (0,))
        for string in strings:
            self.append(string)

    def append(self, string: str) -> None:
        """Add a string at the end."""
        self._written += string.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._written))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def value_at(self, place: int) -> str:
        """Return a string by its place."""
        start, end = self._ends[place], self._ends[place + 1]
        return self._written[start:end].decode("utf-8", "surrogatepass")


class KeyPlaces(Mapping[str, int]):
    """The index of each of a set of distinct keys."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.in_order = PackedStrings(keys)
        hashes = array("q", map(hash, self.in_order))
        self._places = array("q", sorted(range(len(hashes)), key=hashes.__getitem__))
        self._hashes = array("q", (hashes[place] for place in self._places))

    def __getitem__(self, key: str) -> int:
        number = hash(key)
        at = bisect_left(self._hashes, number)
        while at < len(self._hashes) and self._hashes[at] == number:
            if self.in_order[self._places[at]] == key:
                return self._places[at]
            at += 1
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.in_order)

    def __len__(self) -> int:
        return len(self.in_order)


class KeyedValues(Mapping[str, T], Generic[T]):
    """Values by the keys of their places."""

    def __init__(self, places: Mapping[str, int], values: Sequence[T]) -> None:
        self.places = places
        self.of_places = values

    def __getitem__(self, key: str) -> T:
        return self.of_places[self.places[key]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def index_keys(keys: Iterable[str], number: int) -> Mapping[str, int]:
    """Return the index of each of `number` keys; the last index of a repeated key."""
    if number > SMALL_RESIDENT:
        return KeyPlaces(keys)
    return {key: place for place, key in enumerate(keys)}


def keys_in_order(places: Mapping[str, int]) -> Sequence[str]:
    """Return the keys of an index in the order of their places."""
    return places.in_order if isinstance(places, KeyPlaces) else tuple(places)


class ChosenValues(LazySequence[T], Generic[T]):
    """Some values of a sequence, by their places; each is read on access."""

    def __init__(self, values: Sequence[T], places: Sequence[int]) -> None:
        self.values = values
        self.places = places

    def __len__(self) -> int:
        return len(self.places)

    def value_at(self, place: int) -> T:
        """Return the value of a chosen place."""
        return self.values[self.places[place]]

    def __iter__(self) -> Iterator[T]:
        return map(self.values.__getitem__, self.places)


def digest_number(value: object) -> int:
    """Return a number that equal values of strings and numbers share, and others do not."""
    written = repr(value).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(written, digest_size=8).digest()) >> 1


def group_alike(numbers: Sequence[int]) -> list["array[int]"]:
    """Return the places of equal numbers where there are several, by their first places."""
    ordered = sorted(range(len(numbers)), key=numbers.__getitem__)
    runs = (array("q", same) for _, same in groupby(ordered, key=numbers.__getitem__))
    return sorted((run for run in runs if len(run) > 1), key=lambda run: run[0])
