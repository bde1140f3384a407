"""What lives when: the curve over the schedule, the peak by scope and line, last uses.

Positions are those of the live-range file. Sizes are logical bytes, as its peak counts them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from xlareport.analysis.source.locations import SourcePlace, op_name_of, places_of
from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import parse_shape
from xlareport.readers.buffer_assignment import BufferAssignment
from xlareport.readers.live_range import LiveRanges

POINTER_BYTES = 8
"""What an entry of a tuple's table takes in memory."""
BufferKey = tuple[str, tuple[int, ...]]
"""(instruction, place in its tuple)."""


@dataclass(frozen=True, slots=True)
class PeakBuffer:
    """A buffer that lives at the peak, with what made it."""

    instruction: str
    index: tuple[int, ...]
    size: int
    """Logical bytes."""
    opcode: str
    shape: str
    """Of the whole instruction; empty, like the next, where the module does not say."""
    op_name: str
    """The framework's scope."""
    place: SourcePlace | None
    """The line of the user's program."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the peak that belongs to one scope or line."""

    name: str
    size: int
    """Logical bytes."""
    count: int
    """Buffers."""


def buffer_sizes(assignment: BufferAssignment) -> Mapping[BufferKey, int]:
    """Return the logical bytes of each value; those of protos, which tell no shape, as placed."""
    sizes: dict[BufferKey, int] = {}
    for allocation in assignment.allocations:
        for value in allocation.values:
            size = _logical_size(value.shape) if value.shape else value.size
            if size is not None:
                sizes[value.instruction, value.index] = size
    return sizes


def trace_residency(live: LiveRanges, sizes: Mapping[BufferKey, int]) -> tuple[int, ...]:
    """Return how many bytes live at each position of the schedule.

    At `peak_position` it is the file's own peak, but for some files before 2025, which counted
    otherwise.
    """
    length = max([len(live.schedule), *(live_range.end for live_range in live.ranges)], default=0)
    changes: Counter[int] = Counter()
    for live_range in live.ranges:
        size = sizes.get((live_range.instruction, live_range.index), 0)
        changes[live_range.start] += size
        changes[live_range.end + 1] -= size
    return tuple(accumulate(changes[position] for position in range(length + 1)))


def peak_buffers(live: LiveRanges, module: HloModule) -> tuple[PeakBuffer, ...]:
    """Return what lives at the peak, largest first, with what the module says of it."""
    instructions = {
        instruction.name: instruction
        for part in module.computations
        for instruction in part.instructions
    }
    place = places_of(module)
    peak_buffers = []
    for live_buffer in live.live_at_peak:
        instruction = instructions.get(live_buffer.instruction)
        where = place(instruction) if instruction else None
        peak_buffers.append(
            PeakBuffer(
                instruction=live_buffer.instruction,
                index=live_buffer.index,
                size=live_buffer.size,
                opcode=instruction.opcode if instruction else "",
                shape=instruction.shape.text if instruction else "",
                op_name=op_name_of(instruction, module) if instruction else "",
                place=where,
            )
        )
    return tuple(
        sorted(
            peak_buffers,
            key=lambda peak_buffer: (-peak_buffer.size, peak_buffer.instruction, peak_buffer.index),
        )
    )


def shares(buffers: Iterable[PeakBuffer], key: Callable[[PeakBuffer], str]) -> tuple[Share, ...]:
    """Sum up buffers by a name, as in `shares(found, lambda one: one.op_name)`, largest first."""
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for buffer in buffers:
        sizes[key(buffer)] += buffer.size
        counts[key(buffer)] += 1
    shares = (Share(name, size, counts[name]) for name, size in sizes.items())
    return tuple(sorted(shares, key=lambda share: (-share.size, share.name)))


def _logical_size(shape: str) -> int | None:
    try:
        parsed = parse_shape(shape)
    except ValueError:
        return None
    if parsed.element_type == "tuple":
        return POINTER_BYTES * len(parsed.elements)
    return parsed.byte_size
