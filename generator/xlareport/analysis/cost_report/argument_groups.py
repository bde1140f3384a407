"""The arguments of a module by the first part of their names, with their bytes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct

from xlareport.analysis.cost.residency import PeakBuffer
from xlareport.analysis.source.argument_names import split_name

_DEEPEST = 4


class ArgumentGroup(Struct, frozen=True):
    """Arguments whose names have the same first part, such as all `params`."""

    name: str
    count: int
    size: int
    """Bytes."""
    largest: str
    """The name of the largest argument."""
    largest_size: int
    """Bytes."""


def group_arguments(
    buffers: Iterable[PeakBuffer], names: Mapping[str, str]
) -> tuple[ArgumentGroup, ...]:
    """Return the groups of the buffers that are named arguments, the largest first.

    The beginning is one part of the name, or as many as make several groups.
    """
    sizes = {
        names[buffer.instruction]: buffer.size
        for buffer in buffers
        if buffer.instruction in names and not buffer.index
    }
    for depth in range(1, _DEEPEST):
        groups: dict[str, list[str]] = defaultdict(list)
        for name in sizes:
            groups["".join(split_name(name)[:depth])].append(name)
        if len(groups) > 1:
            break
    else:
        return ()
    argument_groups = (_group(name, members, sizes) for name, members in groups.items())
    return tuple(sorted(argument_groups, key=lambda group: (-group.size, group.name)))


def _group(name: str, members: list[str], sizes: Mapping[str, int]) -> ArgumentGroup:
    largest = max(members, key=lambda member: sizes[member])
    total = sum(sizes[member] for member in members)
    return ArgumentGroup(name, len(members), total, largest, sizes[largest])
