"""What tells elements of a tuple apart, whatever a pass does to their sizes."""

from collections import Counter
from collections.abc import Hashable, Sequence

from xlareport.hlo.shape import Shape

Kinds = Sequence[tuple[str, Hashable]]
"""What is compared of the elements of two tuples, in their order."""


def kinds_of(shape: Shape) -> tuple[tuple[str, int], ...]:
    """Return element type and rank of each tuple element: partitioning only changes sizes."""
    return tuple([(part.element_type, len(part.dimensions)) for part in shape.elements])


def kinds_of_both(shape: Shape, other: Shape) -> tuple[Kinds, Kinds]:
    """Return the kinds of the elements of two tuples, by sizes if both have the same shapes.

    Then another order of the sizes shows that a pass gave the elements another order.
    """
    kinds = [
        tuple([(part.element_type, part.dimensions) for part in known.elements])
        for known in (shape, other)
    ]
    if kinds[0] != kinds[1] and Counter(kinds[0]) == Counter(kinds[1]):
        return kinds[0], kinds[1]
    return kinds_of(shape), kinds_of(other)
