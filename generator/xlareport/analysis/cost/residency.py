"""The values in use at the peak with their instructions, by scope and by line."""

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from xlareport.analysis.cost.occupancy import BufferKey, Slot
from xlareport.analysis.source.instruction_origins import InstructionOrigin
from xlareport.analysis.source.locations import SourcePlace
from xlareport.readers.buffer_assignment import BufferValue


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


def sum_buffers(
    buffers: Iterable[PeakBuffer], key: Callable[[PeakBuffer], str]
) -> tuple[Share, ...]:
    """Sum up buffers by a name, as in `sum_buffers(buffers, op_name)`, largest first."""
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for buffer in buffers:
        sizes[key(buffer)] += buffer.size
        counts[key(buffer)] += 1
    shares = (Share(name, size, counts[name]) for name, size in sizes.items())
    return tuple(sorted(shares, key=lambda share: (-share.size, share.name)))
