"""How elements are repeated or summed, in the order of the elements, whatever their dimensions are.

A matrix product of two dimensions has the elements of one of three, in the same order; what repeats
a row for it, or sums its rows, does the same to both.
"""

from collections.abc import Collection, Sequence

from xlareport.analysis.matching.sides.facts import dimension_numbers
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import COMMUTATIVE

_Pattern = tuple[object, ...]
_WRAPPING = frozenset({"convert", "parameter"})


def repetition_pattern(node: Node) -> _Pattern | None:
    """Return runs of dimensions that a broadcast keeps or repeats, with their sizes.

    None where it changes the order of dimensions, or sizes are not known.
    """
    numbers = dimension_numbers(node.instruction)
    if numbers != sorted(numbers):
        return None
    return _runs(node.instruction.shape.dimensions, numbers)


def sum_pattern(module: HloModule, node: Node) -> _Pattern | None:
    """Return how a reduction of one array combines elements, and runs of dimensions it combines.

    None of reductions by more than one operation.
    """
    reducer = module.callee(node.instruction, "to_apply")
    source = node.frame.computation.operand(node.instruction)
    if reducer is None or source is None or len(node.instruction.operands) != len("xy"):
        return None
    work = [line for line in reducer.instructions if line.opcode not in _WRAPPING]
    if len(work) != 1 or work[0].opcode not in COMMUTATIVE:
        return None
    runs = _runs(source.shape.dimensions, dimension_numbers(node.instruction))
    return None if runs is None else (work[0].opcode, *runs)


def _runs(sizes: Sequence[int | None], numbers: Collection[int]) -> _Pattern | None:
    """Return the products of the sizes of neighbors that are, or are not, among some dimensions."""
    runs: list[tuple[bool, int]] = []
    for number, size in enumerate(sizes):
        if size is None:
            return None
        meant = number in numbers
        if size == 1:
            continue
        if runs and runs[-1][0] == meant:
            runs[-1] = (meant, runs[-1][1] * size)
        else:
            runs.append((meant, size))
    return tuple(runs)
