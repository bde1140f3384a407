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


def weights(module: HloModule) -> Weights:
    """Measure the constants of a module, the largest first."""
    found = [
        EmbeddedConstant(computation.name, one.name, one.shape.text, one.shape.byte_size or 0)
        for computation in module.computations
        for one in computation.instructions
        if one.opcode == "constant"
    ]
    largest = nlargest(_LARGEST, found, key=lambda one: one.bytes)
    return Weights(len(found), sum(one.bytes for one in found), tuple(largest))
