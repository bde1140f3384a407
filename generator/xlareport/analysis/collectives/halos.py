"""Whether an op needs edges of its neighbors' parts: a window moves over a sharded dimension."""

from collections.abc import Iterator, Sequence
from itertools import islice

from xlareport.analysis.collectives.partitioning import MOVES, Moved, PartitioningStep
from xlareport.analysis.collectives.sharding_effect import cuts_along
from xlareport.analysis.cost.windows import parse_window
from xlareport.analysis.cost.wire import KINDS
from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime.graphs import nearest_first

_EVERY_PART = 1_000_000_000
_OVER_WINDOWS = ("reduce-window", "select-and-scatter")
WINDOWED = frozenset({"convolution", *_OVER_WINDOWS})
"""Opcodes with a window; others that need edges shift values, such as the concatenate of a roll."""
_EXTENDED = MOVES | {*KINDS, "concatenate", "pad", "select"}
"""Opcodes with which the partitioner adds edges to a part and masks them."""
_MOST_LINES = 100


def needs_edges(step: PartitioningStep, home: Computation, op: Instruction) -> bool:
    """Return whether an op shifts a value by less than a part along a sharded dimension.

    Also where the shardings of its operands are not written: nothing contradicts then.
    """
    operands = [*filter(None, home.operands(op))]
    values = operands[:1] if op.opcode == "convolution" else operands
    shardings = [step.sharding(operand) for operand in values]
    if not any(shardings):
        return True
    shifts = list(_shifts(op, operands))
    return any(
        1 < cuts_along(sharding, [dimension]) <= part
        for sharding in shardings
        for dimension, part in shifts
    )


def _shifts(op: Instruction, operands: Sequence[Instruction]) -> Iterator[tuple[int, int]]:
    """Yield the dimensions of a shift, and the most parts that each is shorter than."""
    if op.opcode == "convolution":
        labels = op.attributes.get("dim_labels", "").partition("_")[0]
        yield from ((number, _EVERY_PART) for number, label in enumerate(labels) if label.isdigit())
    elif op.opcode in _OVER_WINDOWS:
        window = parse_window(op.attributes.get("window", ""))
        yield from ((number, _EVERY_PART) for number, of in enumerate(window) if of.size > 1)
    else:
        yield from _shorter(op, operands)


def _shorter(op: Instruction, operands: Sequence[Instruction]) -> Iterator[tuple[int, int]]:
    """Yield the dimensions in which an operand and the result differ in size, with most parts."""
    sizes = op.shape.dimensions
    for operand in operands:
        others = operand.shape.dimensions
        for number, (size, other) in enumerate(zip(sizes, others, strict=False)):
            if size is None or other is None or size == other or len(sizes) != len(others):
                continue
            yield number, (max(size, other) - 1) // abs(size - other)


def find_edged(step: PartitioningStep, moved: Moved, op: Instruction) -> str:
    """Return the operand of an op before partitioning whose edge a collective sends.

    Along a second dimension, the value that is sent has the edges of the first already. Empty if
    the operand is not known.
    """

    def behind(line: Instruction) -> Iterator[Instruction]:
        operands = moved.home.operands(line) if line.opcode in _EXTENDED else ()
        return (operand for operand in operands if operand is not None)

    for line in islice(nearest_first(moved.chain, behind), _MOST_LINES):
        counterpart = step.counterpart(moved.home, line)
        if counterpart is not None and counterpart.instruction.name in op.operand_names:
            return counterpart.instruction.name
    return ""
