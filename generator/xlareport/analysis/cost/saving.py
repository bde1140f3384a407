"""The buffers that have to shrink to reduce the peak memory by some share."""

from collections.abc import Mapping

from msgspec import Struct, field

from xlareport.analysis.cost.occupancy import BufferKey, Occupancy, Slot
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import CONTROL_FLOW, NO_CODE

_MOST_BUFFERS = 200
_PASS_ON = NO_CODE | CONTROL_FLOW
"""Opcodes whose results share the buffers of other values."""


class Saving(Struct, frozen=True):
    """Buffers without which the peak would be lower; the schedule staying as it is."""

    peak: int
    """The most that lives at once, in bytes."""
    wanted: int
    """The target peak in bytes."""
    reached: int
    """The peak without the buffers, in bytes."""
    buffers: tuple[tuple[BufferKey, int], ...]
    """(buffer, bytes) in the order chosen: each the largest where the most lived then."""
    later: frozenset[BufferKey] = frozenset()
    """Buffers that are not in use at the current peak, where the peak moves without the others."""

    reached_at_once: int | None = None
    """The peak without the buffers that are in use at the current peak alone, in bytes."""

    taken_over: Mapping[BufferKey, tuple[str, ...]] = field(default_factory=dict)
    """Instructions that write further values into the memory of a buffer, in place; only of those
    that have any."""

    @property
    def saved_at_once(self) -> int:
        """The bytes that the peak falls without the buffers in use at the current peak alone."""
        reached = self.reached if self.reached_at_once is None else self.reached_at_once
        return self.peak - reached

    @property
    def is_enough(self) -> bool:
        """Whether the peak reaches the target."""
        return self.reached <= self.wanted


def find_savings(
    occupancy: Occupancy, share: float, instructions: Mapping[str, Instruction] | None = None
) -> Saving:
    """Choose temporaries one by one, each the largest where the most lives, until the peak is down.

    `share` is the part of the peak to save, 0 to 1. The estimate keeps the schedule and all buffer
    sharing: a buffer shrinks only if all values that use it in turn shrink. Of `instructions`, by
    name, those that compute such values are named.
    """
    curve, at_once = list(occupancy.curve), list(occupancy.curve)
    wanted = int(occupancy.peak * (1 - share))
    candidates = [slot for slot in occupancy.slots if not slot.is_held]
    chosen: list[tuple[BufferKey, int]] = []
    later: set[BufferKey] = set()
    taken_over: dict[BufferKey, tuple[str, ...]] = {}
    while curve and max(curve) > wanted and len(chosen) < _MOST_BUFFERS:
        position = curve.index(max(curve))
        largest = _largest_at(position, candidates)
        if largest is None:
            break
        candidates.remove(largest)
        is_at_peak = largest.start <= occupancy.position <= largest.end
        value = occupancy.value_at(largest, occupancy.position if is_at_peak else position)
        key = (value.instruction, value.index)
        chosen.append((key, largest.size))
        if further := _computed(occupancy, largest, key, instructions or {}):
            taken_over[key] = further
        if not is_at_peak:
            later.add(key)
        for lowered in (curve, at_once) if is_at_peak else (curve,):
            for used in range(largest.start, largest.end + 1):
                lowered[used] -= largest.size
    return Saving(
        occupancy.peak,
        wanted,
        max(curve, default=0),
        tuple(chosen),
        frozenset(later),
        max(at_once, default=0),
        taken_over,
    )


def _largest_at(position: int, candidates: list[Slot]) -> Slot | None:
    alive = (slot for slot in candidates if slot.start <= position <= slot.end and slot.size)
    return max(alive, key=lambda slot: slot.size, default=None)


def _computed(
    occupancy: Occupancy, slot: Slot, key: BufferKey, instructions: Mapping[str, Instruction]
) -> tuple[str, ...]:
    """Return the other instructions that compute values in a slot, each once."""
    names = dict.fromkeys(value.instruction for value in occupancy.values_in(slot))
    return tuple(
        name
        for name in names
        if name != key[0] and name in instructions and instructions[name].opcode not in _PASS_ON
    )
