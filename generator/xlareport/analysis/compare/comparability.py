"""Whether the figures of two compilations can be compared at all."""

from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from enum import StrEnum

from xlareport.analysis.compare.comparison import Comparison, Sketched
from xlareport.analysis.compare.given_program import Program
from xlareport.analysis.source.scopes import mask_numbers

_ALIKE = 0.2
"""Share of common arguments, and source lines, below which programs may be unrelated."""
_ALIKE_OPS = 0.9
"""The same share for ops, many of which any two training steps have in common."""
_LEAST = 5
"""Fewer arguments or ops than this are no evidence."""
_LEFT_OUT = 0.05
"""The share of bytes in memory on a chip up to which times of two chips are compared."""
_END = "after_optimizations"


class Obstacle(StrEnum):
    """Why the figures of two compilations cannot be compared."""

    NONE = ""
    STAGE = "one side has no optimized module"
    DRAWING = "one side has only drawings, which omit constants and attributes"
    PROGRAM = "the main programs have hardly an argument or operation in common"
    DEVICE = "the devices differ, and at least one of them is not known"
    BACKEND = "the backends differ"
    CHIPS = "the TPUs differ in what they keep on the chip, and no time includes accesses there"


def find_obstacle(comparison: Comparison) -> Obstacle:
    """Return why neither time nor memory can be compared; NONE where they can."""
    base, head = comparison.base, comparison.head
    if base is None or head is None or comparison.bare:
        return Obstacle.NONE
    if is_optimized(base) != is_optimized(head):
        return Obstacle.STAGE
    if is_drawn_on_one_side(comparison):
        return Obstacle.DRAWING
    if are_unlike(base.facts.program, head.facts.program):
        return Obstacle.PROGRAM
    return Obstacle.NONE


def find_time_obstacle(comparison: Comparison) -> Obstacle:
    """Return why estimated times cannot be compared, though memory can; NONE where they can."""
    base, head = comparison.base, comparison.head
    if base is None or head is None or comparison.bare:
        return Obstacle.NONE
    ours, theirs = (side.summary.origin.backend for side in (base, head))
    if ours and theirs and ours != theirs:
        return Obstacle.BACKEND
    if not _devices_differ(base, head):
        return Obstacle.NONE
    if "guessed" in (base.facts.device_grade, head.facts.device_grade):
        return Obstacle.DEVICE
    on_chip = max(base.facts.on_chip_share, head.facts.on_chip_share)
    return Obstacle.CHIPS if on_chip > _LEFT_OUT else Obstacle.NONE


def _devices_differ(base: Sketched, head: Sketched) -> bool:
    named = base.facts.device != head.facts.device
    return named and bool(base.facts.device and head.facts.device)


def is_optimized(side: Sketched) -> bool:
    """Return whether the last snapshot of a module is that after all passes."""
    return side.final is not None and side.snapshots[side.final].key.endswith(_END)


def is_drawn_on_one_side(comparison: Comparison) -> bool:
    """Return whether one side has drawings alone: what these omit is no difference."""
    base, head = comparison.base, comparison.head
    return base is not None and head is not None and base.is_drawn != head.is_drawn


def are_unlike(base: Program, head: Program) -> bool:
    """Return whether two programs share few arguments, few ops and few source lines."""
    arguments = [
        {mask_numbers(argument.label) for argument in side.arguments} for side in (base, head)
    ]
    ops = [
        {(operation.key.phase, operation.key.op) for operation in side.operations}
        for side in (base, head)
    ]
    lines = [{operation.key.line for operation in side.operations} - {""} for side in (base, head)]
    shares = [_shared(*sides) for sides in (arguments, lines) if min(map(len, sides)) >= _LEAST]
    if not shares or min(map(len, ops)) < _LEAST:
        return False
    return max(shares) < _ALIKE and _shared(*ops) < _ALIKE_OPS


def _shared(base: AbstractSet[Hashable], head: AbstractSet[Hashable]) -> float:
    """Return the number of common elements as a share of all elements."""
    return len(base & head) / len(base | head)
