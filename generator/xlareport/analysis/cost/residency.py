"""The values in use at the peak with their instructions, by scope, line and group of arguments."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping

from msgspec import Struct

from xlareport.analysis.cost.breakdown import SEVERAL
from xlareport.analysis.cost.occupancy import BufferKey, Slot
from xlareport.analysis.source.argument_names import split_name
from xlareport.analysis.source.instruction_origins import InstructionOrigin
from xlareport.analysis.source.locations import SourcePlace
from xlareport.analysis.source.scopes import scope_of, split_merged
from xlareport.readers.buffer_assignment import BufferValue
from xlareport.runtime.grouping import group_by_key

_DEEPEST = 4
ARGUMENTS = "arguments of the module"
"""Stands for the scope or line of arguments, which the caller provides."""


class PeakBuffer(Struct, frozen=True):
    """A buffer in use at the peak, with the instruction that made its value."""

    instruction: str
    index: tuple[int, ...]
    size: int
    """Bytes."""
    opcode: str
    shape: str
    """Of the whole instruction; empty, like the next, where the module does not say."""
    op_name: str
    """Of the framework; of an instruction without one, that of the op it serves."""
    place: SourcePlace | None
    """The line of the user's program."""
    occupant: BufferValue | None = None
    """The value that uses the memory of another one, which is held, at the peak."""


class Share(Struct, frozen=True):
    """A part of the peak that belongs to one scope or line."""

    name: str
    size: int
    """Bytes."""
    count: int
    """Buffers."""


def find_peak_buffers(
    slots: Iterable[Slot], origin_of: Callable[[BufferKey], InstructionOrigin]
) -> tuple[PeakBuffer, ...]:
    """Return the values in use with their instructions, in the given order."""
    return tuple(_peak_buffer(slot, origin_of(slot.key)) for slot in slots)


def _peak_buffer(slot: Slot, origin: InstructionOrigin) -> PeakBuffer:
    name, index = slot.key
    instruction = origin.instruction
    return PeakBuffer(
        instruction=name,
        index=index,
        size=slot.size,
        opcode=instruction.opcode if instruction else "",
        shape=instruction.shape.text if instruction else "",
        op_name=origin.op_name,
        place=origin.place,
        occupant=slot.occupant,
    )


def sum_by_scope(buffers: Iterable[PeakBuffer], parameters: Container[str]) -> tuple[Share, ...]:
    """Return the bytes in use by scope, the largest first; of `parameters`, together."""

    def scope(buffer: PeakBuffer) -> str:
        if buffer.instruction in parameters:
            return ARGUMENTS
        scopes = {scope_of(op_name) or op_name for op_name in split_merged(buffer.op_name)}
        return scopes.pop() if len(scopes) == 1 else SEVERAL

    return _sum_by(buffers, scope)


def sum_by_line(buffers: Iterable[PeakBuffer], parameters: Container[str]) -> tuple[Share, ...]:
    """Return the bytes in use by source line, the largest first; of `parameters`, together."""

    def line(buffer: PeakBuffer) -> str:
        place = buffer.place.text if buffer.place else ""
        return ARGUMENTS if buffer.instruction in parameters and not place else place

    return _sum_by(buffers, line)


def _sum_by(buffers: Iterable[PeakBuffer], key: Callable[[PeakBuffer], str]) -> tuple[Share, ...]:
    """Sum up buffers by a name of each, the largest sum first."""
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for buffer in buffers:
        sizes[key(buffer)] += buffer.size
        counts[key(buffer)] += 1
    shares = (Share(name, size, counts[name]) for name, size in sizes.items())
    return tuple(sorted(shares, key=lambda share: (-share.size, share.name)))


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
        groups = group_by_key(("".join(split_name(name)[:depth]), name) for name in sizes)
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
