"""Results that are remembered as long as the object that they are of lives."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


def remembered(compute: Callable[[K], R]) -> Callable[[K], R]:
    """Return a function that computes the result of an object once, and forgets it with that."""
    results: WeakKeyDictionary[K, R] = WeakKeyDictionary()

    @wraps(compute)
    def recall(value: K) -> R:
        try:
            return results[value]
        except KeyError:
            result = results[value] = compute(value)
            return result

    return recall
