"""Whether two tuples may hold the same elements in the same order."""

from collections import Counter
from functools import lru_cache

from xlareport.hlo.shape import Shape


def kinds_of(shape: Shape) -> tuple[tuple[str, int], ...]:
    """Return element type and rank of each tuple element: partitioning only changes sizes."""
    return tuple([(part.element_type, len(part.dimensions)) for part in shape.elements])


def are_permuted(old: Shape, new: Shape) -> bool:
    """Return whether two tuples have the same elements in another order, by kind or with sizes.

    Sizes that only partitioning changed are not the same ones in another order.
    """
    if old.text == new.text or len(old.elements) != len(new.elements):
        return False
    kinds = kinds_of(old), kinds_of(new)
    if kinds[0] != kinds[1]:
        return Counter(kinds[0]) == Counter(kinds[1])
    plain = [part.plain for part in old.elements], [part.plain for part in new.elements]
    return plain[0] != plain[1] and Counter(plain[0]) == Counter(plain[1])


@lru_cache(maxsize=16)  # each reader of a tuple asks for it
def keep_order(old: Shape, new: Shape) -> bool:
    """Return whether the elements of two tuples may be the same ones, place by place."""
    return kinds_of(old) == kinds_of(new) and not are_permuted(old, new)
