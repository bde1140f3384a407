"""Elements and bytes of shapes, as XLA's cost analysis counts them and with layout padding."""

from collections.abc import Iterator
from functools import lru_cache

from xlareport.hlo.shape import Shape
from xlareport.runtime.graphs import descend

KEPT_SHAPES = 1 << 13
"""Shapes whose sizes are kept: thousands of instructions have a few hundred."""


class UncountableError(Exception):
    """The cost of an instruction is unknown; the message says why in a few words."""


def iterate_leaves(shape: Shape) -> Iterator[Shape]:
    """Yield the arrays of a shape, depth first; tokens and opaque values are left out."""
    for part in descend([shape], lambda part: part.elements):
        if part.element_type not in ("tuple", "token", "opaque"):
            yield part


@lru_cache(maxsize=KEPT_SHAPES)
def count_elements(shape: Shape) -> int:
    """Return the scalars in a shape. Raises UncountableError where a dimension is unbounded."""
    return sum(_array_elements(leave) for leave in iterate_leaves(shape))


@lru_cache(maxsize=KEPT_SHAPES)
def measure_data(shape: Shape) -> int:
    """Return the logical bytes of all arrays of a shape. Raises UncountableError if unbounded."""
    return sum(_array_bytes(leave) for leave in iterate_leaves(shape))


def _array_elements(shape: Shape) -> int:
    count = shape.element_count
    if count is None:
        raise UncountableError(f"no known number of elements in {shape.text[:80]}")
    return count


def _array_bytes(shape: Shape) -> int:
    size = shape.byte_size
    if size is None:
        raise UncountableError(f"unknown size of {shape.text[:80]}")
    return size
