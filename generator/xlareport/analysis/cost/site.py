"""An instruction in its place: the operands' shapes and the attributes as numbers."""

import re
from collections.abc import Mapping

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.shape import MOST_DIMENSIONS, Shape
from xlareport.runtime.whole_numbers import parse_whole_number

_INTEGER = re.compile(r"-?[0-9]+")
_MOST_DIGITS = 19


class Site(Struct):
    """An instruction with the data to count its work."""

    instruction: Instruction
    shapes: Mapping[str, Shape]
    """The shapes of its computation by instruction name."""

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        return self.instruction.shape

    @property
    def operands(self) -> tuple[Shape, ...]:
        """The shapes of all operands, in order. Raises UncountableError where one is unknown."""
        return tuple(self._resolve(name) for name in self.instruction.operands)

    @property
    def known_operands(self) -> tuple[Shape, ...]:
        """The shapes of the operands that are in the computation."""
        shapes = (self.shapes.get(name) for name in self.instruction.operand_names)
        return tuple(shape for shape in shapes if shape is not None)

    def operand(self, number: int) -> Shape:
        """Return the shape of one operand. Raises UncountableError if there is none."""
        names = self.instruction.operands
        if number >= len(names):
            raise UncountableError(f"operand {number} is missing")
        return self._resolve(names[number])

    def numbers(self, attribute: str) -> tuple[int, ...]:
        """Return the integers of an attribute such as `dimensions={0,1}`; empty where absent."""
        return parse_integers(self.instruction.attributes.get(attribute, ""))

    def dimension(self, shape: Shape, number: int) -> int:
        """Return one dimension of a shape. Raises UncountableError if it is not a number."""
        if not 0 <= number < len(shape.dimensions):
            raise UncountableError(f"{shape.text[:80]} has no dimension {number}")
        size = shape.dimensions[number]
        if size is None:
            raise UncountableError(f"dimension {number} of {shape.text[:80]} is unbounded")
        return size

    def _resolve(self, operand: str) -> Shape:
        name, *path = operand.split("#")
        shape = self.shapes.get(name)
        for step in path:
            inside = shape.elements if shape is not None else ()
            number = parse_whole_number(step)
            shape = inside[number] if number is not None and number < len(inside) else None
        if shape is None:
            raise UncountableError(f"operand {operand[:80]} is not in the computation")
        return shape


def shapes_of(computation: Computation) -> Mapping[str, Shape]:
    """Return the shapes of a computation's instructions by name."""
    return {instruction.name: instruction.shape for instruction in computation.instructions}


def parse_integers(text: str) -> tuple[int, ...]:
    """Return the integers in a text, in order. Raises UncountableError at absurdly many or long."""
    numbers = _INTEGER.findall(text)
    if len(numbers) > MOST_DIMENSIONS:
        raise UncountableError("a list of dimensions is too long")
    if any(len(item) > _MOST_DIGITS for item in numbers):
        raise UncountableError("a number is too long")
    return tuple(int(item) for item in numbers)
