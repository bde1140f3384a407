"""How many instructions groups of changes have, by opcode."""

from collections import Counter
from collections.abc import Callable, Sequence

from xlareport.analysis.steps import wording
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.kinds import LOST
from xlareport.runtime import english
from xlareport.runtime.grouping import group_by_key

BEFORE, AFTER = 0, 1
"""The side that is counted."""


def counted(groups: Sequence[ChangeGroup], side: int) -> str:
    """Return how many instructions of what opcodes groups have on a side, in words."""
    return wording.counted(count_by_opcode(groups, side))


def counted_apart(
    groups: Sequence[ChangeGroup],
    is_second: Callable[[ChangeGroup], bool],
    first: str,
    second: str,
) -> str:
    """Return how many instructions before are in groups of two sorts, each in its words.

    The words have `{}` in place of the instructions; those of a sort without groups are left out.
    """
    sorts = group_by_key((is_second(group), group) for group in groups)
    words = ((first, sorts.get(False, ())), (second, sorts.get(True, ())))
    return english.listing([text.format(counted(part, BEFORE)) for text, part in words if part])


def count_by_opcode(groups: Sequence[ChangeGroup], side: int) -> list[tuple[str, int]]:
    """Return how many instructions groups have on a side, by the words for their opcodes.

    A custom call that was removed is named by its target: marks of shardings are no library calls.
    """
    counts: Counter[str] = Counter()
    for group in groups:
        opcode = group.opcodes[side] or group.opcodes[1 - side]
        target = group.target if group.kind in LOST else ""
        counts[wording.called(opcode, target)] += count_on_side(group, side)
    return list(counts.items())


def count_on_side(group: ChangeGroup, side: int) -> int:
    """Return how many instructions a group has on a side; on the other if it has none there."""
    sides = (group.sources, group.results)
    return sides[side] or sides[1 - side] or group.count
