"""Results that are remembered as long as the object that they are of lives."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

V = TypeVar("V")
R = TypeVar("R")


def remembered(compute: Callable[[V], R]) -> Callable[[V], R]:
    """Return a function that computes the result of an object once, and keeps it in the object.

    The object has a `__dict__`, where its cached properties are as well.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def recall(value: V) -> R:
        kept: dict[str, R] = vars(value)
        try:
            return kept[name]
        except KeyError:
            result = kept[name] = compute(value)
            return result

    return recall
