"""Whether a copy or a transpose changes the order of elements in memory."""

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import Site, parse_integers, shapes_of
from xlareport.analysis.cost.tiling import minor_to_major
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import Shape


def changes_order(computation: Computation, instruction: Instruction) -> bool:
    """Return whether the order of elements in memory changes; dimensions of size 1 are ignored."""
    try:
        site = Site(instruction, shapes_of(computation))
        before = _memory_order(site.operand(0))
        numbers = parse_integers(instruction.attributes.get("dimensions", ""))
    except UncountableError:
        return False
    after = _memory_order(instruction.shape)
    if instruction.opcode == "transpose":
        return before != [numbers[number] for number in after if number < len(numbers)]
    return before != after


def _memory_order(shape: Shape) -> list[int]:
    """Return the order of the dimensions in memory, in tiles with those of one element."""
    order = minor_to_major(shape)
    if "T(" in shape.layout:
        return order
    sizes = shape.dimensions
    return [number for number in order if number < len(sizes) and sizes[number] != 1]
