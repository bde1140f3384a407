"""Constants that are embedded in a module: the answer to "are the weights in there?"."""

from dataclasses import dataclass
from heapq import nlargest

from xlareport.hlo.model import HloModule

_LARGEST = 10


@dataclass(frozen=True, slots=True)
class EmbeddedConstant:
    """One constant with its size."""

    computation: str
    name: str
    shape: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Weights:
    """All constants of a module together, and the largest of them."""

    constants: int
    bytes: int
    """Of those whose shape is known; the dump often leaves out the values, never the shape."""
    largest: tuple[EmbeddedConstant, ...]


NO_WEIGHTS = Weights(0, 0, ())
"""Those of a module that could not be read."""


def find_weights(module: HloModule) -> Weights:
    """Measure the constants of a module, the largest first."""
    embedded_constants = [
        EmbeddedConstant(
            computation.name,
            instruction.name,
            instruction.shape.text,
            instruction.shape.byte_size or 0,
        )
        for computation in module.computations
        for instruction in computation.instructions
        if instruction.opcode == "constant"
    ]
    largest = nlargest(
        _LARGEST, embedded_constants, key=lambda embedded_constant: embedded_constant.bytes
    )
    return Weights(
        len(embedded_constants),
        sum(embedded_constant.bytes for embedded_constant in embedded_constants),
        tuple(largest),
    )
