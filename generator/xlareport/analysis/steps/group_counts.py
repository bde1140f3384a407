"""How many instructions groups of changes have, by opcode."""

from collections import Counter
from collections.abc import Sequence

from xlareport.analysis.steps import wording
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.kinds import Kind

BEFORE, AFTER = 0, 1
"""The side that is counted."""


def counted(groups: Sequence[ChangeGroup], side: int) -> str:
    """Return how many instructions of what opcodes groups have on a side, in words."""
    return wording.counted(count_by_opcode(groups, side))


def count_by_opcode(groups: Sequence[ChangeGroup], side: int) -> list[tuple[str, int]]:
    """Return how many instructions groups have on a side, by the words for their opcodes.

    A custom call that was removed is named by its target: marks of shardings are no library calls.
    """
    counts: Counter[str] = Counter()
    for group in groups:
        opcode = group.opcodes[side] or group.opcodes[1 - side]
        target = group.target if group.kind in _LOST else ""
        counts[wording.called(opcode, target)] += count_on_side(group, side)
    return list(counts.items())


_LOST = frozenset({Kind.DEAD, Kind.REMOVED})


def count_on_side(group: ChangeGroup, side: int) -> int:
    """Return how many instructions a group has on a side; on the other if it has none there."""
    sides = (group.sources, group.results)
    return sides[side] or sides[1 - side] or group.count
