"""Bytes of shapes as XLA's cost analysis counts them on the CPU client of jaxlib 0.12."""

from xlareport.analysis.cost.sizes import iterate_leaves
from xlareport.analysis.cost.tiling import padded_size
from xlareport.hlo.shape import Shape

POINTER_BYTES = 4
"""What an entry of a tuple's table counts; found by experiment."""
DYNAMIC_SIZE_BYTES = 4
"""What each dimension of an array with bounded dimensions counts besides its data."""


def operand_size(shape: Shape) -> int:
    """Return the bytes of an operand: tiles padded, a tuple as its table of pointers only."""
    if shape.element_type == "tuple":
        return POINTER_BYTES * len(shape.elements)
    if shape.element_type == "opaque":
        return POINTER_BYTES
    dynamic = DYNAMIC_SIZE_BYTES * len(shape.dimensions) if "<=" in shape.text else 0
    return sum(map(padded_size, iterate_leaves(shape))) + dynamic


def result_size(shape: Shape) -> int:
    """Return the bytes of a result: of a tuple, those of its arrays."""
    if shape.element_type != "tuple":
        return operand_size(shape)
    return sum(map(operand_size, iterate_leaves(shape)))
