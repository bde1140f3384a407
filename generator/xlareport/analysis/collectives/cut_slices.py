"""Slices along a sharded dimension, such as queries, keys and values of one product.

The parts of a slice do not lie where its own shards are wanted: collective-permutes move them.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.collectives.sharding_effect import cuts_along
from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime import english
from xlareport.runtime.whole_numbers import parse_whole_number

_BOUNDS = re.compile(r"\[(\d{1,18}):(\d{1,18})")
_LEAST = 2
"""Slices that share a name: of a single one the name is enough."""


class CutSlices(Struct, frozen=True):
    """Slices of one value under one op_name, before partitioning."""

    home: Computation
    instructions: tuple[Instruction, ...]
    dimensions: tuple[int, ...]
    """The sharded dimensions along which they take a part."""
    cuts: int
    """The number of shards along these dimensions."""

    def sharding(self, step: PartitioningStep) -> str:
        """Return the sharding that all slices have; empty if they differ."""
        written = {step.sharding(line) for line in self.instructions}
        return written.pop() if len(written) == 1 else ""

    def describe(self, value: str) -> str:
        """Return the sentence on the collectives that move parts of a value for its slices."""
        names = english.listing([f"`{line.name}`" for line in self.instructions])
        numbers = english.listing([str(number) for number in self.dimensions])
        noun = "dimension" if len(self.dimensions) == 1 else "dimensions"
        return (
            f"Moves parts of `{value}` for its slices {names} along {noun} {numbers}, sharded in "
            f"{self.cuts:,}: the shards of a slice lie on other devices."
        )


def find_cut_slices(step: PartitioningStep, body: Instruction) -> CutSlices | None:
    """Return the slices that a collective-permute moves parts for; None for other collectives."""
    if not body.opcode.startswith("collective-permute"):
        return None
    named = step.named(body.metadata.op_name)
    every = [(home, line) for home, line in named if line.opcode == "slice"]
    values = {(home.name, line.operand_names[:1]) for home, line in every}
    if len(every) < _LEAST or len(every) < len(named) or len(values) != 1:
        return None
    home = every[0][0]
    value = home.operand(every[0][1])
    if value is None:
        return None
    written = step.sharding(value)
    numbers = {number for _, line in every for number in _cut(line, value)}
    dimensions = tuple(number for number in sorted(numbers) if cuts_along(written, [number]) > 1)
    slices = tuple(line for _, line in every)
    cuts = cuts_along(written, dimensions)
    return CutSlices(home, slices, dimensions, cuts) if dimensions else None


def _cut(line: Instruction, value: Instruction) -> Sequence[int]:
    """Return the dimensions of which a slice takes a part."""
    bounds = _BOUNDS.findall(line.attributes.get("slice", ""))
    sizes = value.shape.dimensions
    return [
        number
        for number, ((start, limit), size) in enumerate(zip(bounds, sizes, strict=False))
        if (parse_whole_number(start), parse_whole_number(limit)) != (0, size)
    ]
