"""Bytes in use of each memory space at each position of the schedule.

Arguments, results and constants are held throughout. In every other allocation, the bytes in use
are the union of the ranges [offset, offset + size) of the live values: values that share a range
count once, so an allocation is never more than full.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.program import MemoryFiles
from xlareport.readers.buffer_assignment import Allocation, BufferAssignment, BufferValue
from xlareport.readers.live_range import LiveRange, LiveRanges
from xlareport.runtime.remembered import remembered

MAIN_MEMORY = 0
"""The number of the device's memory, on every backend."""
HELD = frozenset({"parameter", "output", "constant"})
"""Allocations that the caller or the program holds from the start of a run to its end."""
BufferKey = tuple[str, tuple[int, ...]]
"""(instruction, place in its tuple)."""


class Slot(Struct, frozen=True):
    """A place in an allocation that is in use for a while."""

    allocation: Allocation
    value: BufferValue
    """The value in this range; of several at the same time, the first one."""
    offset: int
    size: int
    start: int
    end: int
    """Positions, both included."""
    occupant: BufferValue | None = None
    """The value that uses the memory of another one, which is held, at a position."""

    @property
    def key(self) -> BufferKey:
        """Return the instruction and the place in its tuple."""
        return _buffer_key(self.value)

    @property
    def is_held(self) -> bool:
        """Return whether the allocation is held throughout."""
        return self.allocation.kind in HELD


class Fill(Struct, frozen=True):
    """An allocation that values share, at its fullest."""

    allocation: Allocation
    used: int
    """Bytes with a live value at that position."""
    position: int

    @property
    def lost(self) -> int:
        """Bytes without a live value, even at that position."""
        return self.allocation.size - self.used


class Occupancy(Struct, frozen=True, dict=True):
    """The bytes in use of each memory space, and the values in the device memory."""

    curves: Mapping[int, tuple[int, ...]]
    """By the number of the space, at each position; the last is the end of the run."""
    slots: tuple[Slot, ...]
    """Of the device memory."""
    fills: tuple[Fill, ...]
    """Of all shared allocations, the most lost first."""
    held: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """Bytes held throughout, by the number of the space and the kind of allocation."""
    ranges: Mapping[BufferKey, LiveRange] = field(default_factory=dict)
    """When values live."""

    @property
    def curve(self) -> tuple[int, ...]:
        """Return the curve of the device memory."""
        return self.curves.get(MAIN_MEMORY, ())

    @cached_property
    def peak(self) -> int:
        """Return the most bytes of device memory in use at once."""
        return max(self.curve, default=0)

    @cached_property
    def position(self) -> int:
        """Return the first position of the peak."""
        return self.curve.index(self.peak) if self.curve else 0

    def living(self, position: int) -> tuple[Slot, ...]:
        """Return the slots of the device memory in use at a position, largest first.

        A slot of shared memory names a value that is live at the position. Held memory names its
        argument, output or constant, and as `occupant` another value that is live in it.
        """
        used = (slot for slot in self.slots if slot.start <= position <= slot.end)
        living = (self._with_occupant(slot, position) for slot in used)
        return tuple(sorted(living, key=lambda slot: (-slot.size, slot.key)))

    def _with_occupant(self, slot: Slot, position: int) -> Slot:
        value = self.value_at(slot, position)
        if not slot.is_held:
            return replace(slot, value=value)
        return slot if value is slot.value else replace(slot, occupant=value)

    def is_temporary_at(self, key: BufferKey, position: int) -> bool:
        """Return whether the place of a value, shared device memory, is in use at a position by it.

        That includes what takes the value over in place, as a loop's next iteration does.
        """
        lives = self.ranges.get(key)
        return lives is not None and any(
            slot.start <= position <= slot.end
            and slot.start <= lives.end
            and lives.start <= slot.end
            for slot in self._temporaries.get(key, ())
        )

    def share_place(self, key: BufferKey, other: BufferKey, position: int) -> bool:
        """Return whether two values share device memory at a position of the schedule."""
        mine, theirs = ({*self.places_at(value, position)} for value in (key, other))
        is_there = self.is_temporary_at(key, position) and self.is_temporary_at(other, position)
        return is_there and not mine.isdisjoint(theirs)

    def places_at(self, key: BufferKey, position: int) -> Iterator[tuple[int, int, int]]:
        """Yield (allocation, offset, size) of a value's shared device memory that is in use.

        Whether the value itself uses it at the position says `is_temporary_at`.
        """
        for slot in self._temporaries.get(key, ()):
            if slot.start <= position <= slot.end:
                yield slot.allocation.index, slot.offset, slot.size

    @cached_property
    def _temporaries(self) -> Mapping[BufferKey, Sequence[Slot]]:
        """Return the slots of shared device memory by the values in them."""
        places: dict[tuple[int, int, int], list[Slot]] = defaultdict(list)
        allocations: dict[int, Allocation] = {}
        for slot in self.slots:
            if not slot.is_held:
                places[slot.allocation.index, slot.offset, slot.size].append(slot)
                allocations[slot.allocation.index] = slot.allocation
        return {
            _buffer_key(value): places.get((allocation.index, value.offset, value.size), ())
            for allocation in allocations.values()
            for value in allocation.values
        }

    def values_in(self, slot: Slot) -> tuple[BufferValue, ...]:
        """Return all values that live in a slot of shared memory, in the order of the schedule."""
        alike = (
            (lives.start, value.id, value)
            for value in slot.allocation.values
            if (value.offset, value.size) == (slot.offset, slot.size)
            and (lives := self.ranges.get(_buffer_key(value))) is not None
            and slot.start <= lives.start <= slot.end
        )
        return tuple(value for _, _, value in sorted(alike, key=lambda item: item[:2]))

    def value_at(self, slot: Slot, position: int) -> BufferValue:
        """Return a value that lives in a slot at a position; if none does, that of the slot."""
        if _lives(self.ranges.get(slot.key), position):
            return slot.value
        is_held = slot.is_held
        there = (
            value
            for value in slot.allocation.values
            if (is_held or (value.offset, value.size) == (slot.offset, slot.size))
            and _lives(self.ranges.get(_buffer_key(value)), position)
        )
        return min(there, key=lambda value: (-value.size, value.id), default=slot.value)


@remembered
def occupancy_of(files: MemoryFiles) -> Occupancy | None:
    """Return the memory use of a module over its schedule; None if live ranges are unknown."""
    return measure_occupancy(files.assignment, files.live)


def measure_occupancy(
    assignment: BufferAssignment | None, live: LiveRanges | None
) -> Occupancy | None:
    """Return the memory use over the schedule; None if live ranges are unknown."""
    allocations = assignment.allocations if assignment else ()
    reserved = [allocation for allocation in allocations if not allocation.is_thread_local]
    if not reserved or (live is None and any(item.kind not in HELD for item in reserved)):
        return None
    end = _end(live) if live else 0
    ranges = live.by_value if live else {}
    changes: dict[int, Counter[int]] = defaultdict(Counter)
    slots: list[Slot] = []
    fills: list[Fill] = []
    for allocation in reserved:
        allocation_slots = list(_slots(allocation, ranges, end))
        used = _used(allocation_slots) or [(0, 0)]
        for (position, size), (_, before) in zip(used, [(0, 0), *used], strict=False):
            changes[allocation.color][position] += size - before
        slots += allocation_slots if allocation.color == MAIN_MEMORY else ()
        if allocation_slots and allocation.kind not in HELD and len(allocation.values) > 1:
            position, most = max(used, key=lambda step: (step[1], -step[0]))
            fills.append(Fill(allocation, most, position))
    curves = {
        color: tuple(accumulate(steps[position] for position in range(end + 1)))
        for color, steps in changes.items()
    }
    ranked = sorted(fills, key=lambda fill: (-fill.lost, fill.allocation.index))
    return Occupancy(curves, tuple(slots), tuple(ranked), _held(reserved), ranges)


def measure_most(allocation: Allocation, live: LiveRanges) -> int:
    """Return the peak bytes in use of one allocation."""
    used = _used(list(_slots(allocation, live.by_value, _end(live))))
    return max((size for _, size in used), default=0)


def _buffer_key(value: BufferValue) -> BufferKey:
    return value.instruction, value.index


def _lives(live_range: LiveRange | None, position: int) -> bool:
    return live_range is not None and live_range.start <= position <= live_range.end


def _held(allocations: Sequence[Allocation]) -> Mapping[int, Mapping[str, int]]:
    """Return the bytes that are held throughout, by space and kind."""
    held: dict[int, Counter[str]] = defaultdict(Counter)
    for allocation in allocations:
        if allocation.kind in HELD and allocation.values:
            held[allocation.color][allocation.kind] += allocation.size
    return held


def _start(live_range: LiveRange | None, end: int) -> int:
    return end if live_range is None else live_range.start


def _end(live: LiveRanges) -> int:
    """Return the last position: one past the schedule, the end of the run."""
    return max([len(live.schedule), *(live_range.end for live_range in live.ranges)])


def _slots(
    allocation: Allocation, ranges: Mapping[BufferKey, LiveRange], end: int
) -> Iterator[Slot]:
    """Yield the slots of an allocation; successive values in the same range share one slot.

    A value without a known live range counts as live throughout.
    """
    if allocation.kind in HELD:
        values = sorted(allocation.values, key=lambda value: (-value.size, value.id))
        if allocation.kind == "output":  # others only use its memory before
            values.sort(key=lambda value: not _lives(ranges.get(_buffer_key(value)), end))
        if allocation.kind == "parameter":  # others only use its memory after
            values.sort(
                key=lambda value: (-value.size, _start(ranges.get(_buffer_key(value)), end))
            )
        yield from (Slot(allocation, value, 0, allocation.size, 0, end) for value in values[:1])
        return
    places: dict[tuple[int, int], list[tuple[int, int, BufferValue]]] = defaultdict(list)
    for value in allocation.values:
        lives = ranges.get(_buffer_key(value))
        start, last = (lives.start, lives.end) if lives else (0, end)
        places[value.offset, value.size].append((start, last, value))
    for (offset, size), lives_there in places.items():
        for start, last, value in _join_lives(sorted(lives_there, key=lambda item: item[:2])):
            yield Slot(allocation, value, offset, size, start, last)


def _join_lives(
    lives: Sequence[tuple[int, int, BufferValue]],
) -> Iterator[tuple[int, int, BufferValue]]:
    """Yield lives at one place, in order, those that overlap as one."""
    start, last, value = lives[0]
    for next_start, next_last, following in lives[1:]:
        if next_start <= last:
            last = max(last, next_last)
            continue
        yield start, last, value
        start, last, value = next_start, next_last, following
    yield start, last, value


def _used(slots: Sequence[Slot]) -> list[tuple[int, int]]:
    """Return (position, bytes in use from that position on) of one allocation, in order."""
    bounds = sorted({bound for slot in slots for bound in (slot.offset, slot.offset + slot.size)})
    place = {bound: number for number, bound in enumerate(bounds)}
    events = [(slot.start, 1, slot) for slot in slots]
    events += [(slot.end + 1, -1, slot) for slot in slots]
    covered = _Covered(bounds)
    used: dict[int, int] = {}
    for position, by, slot in sorted(events, key=lambda event: event[:2]):
        if slot.size:
            covered.change(place[slot.offset], place[slot.offset + slot.size], by)
        used[position] = covered.bytes
    return list(used.items())


class _Covered:
    """The bytes that at least one of a changing set of intervals covers: a segment tree."""

    def __init__(self, bounds: Sequence[int]) -> None:
        self._bounds = bounds
        self._counts = [0] * (4 * len(bounds))
        self._covered = [0] * (4 * len(bounds))

    @property
    def bytes(self) -> int:
        """Return how many bytes are covered now."""
        return self._covered[1] if self._covered else 0

    def change(self, low: int, high: int, by: int) -> None:
        """Add an interval, by 1, or take it away, by -1; it ends at numbers of bounds."""
        self._change(1, (0, len(self._bounds) - 1), (low, high), by)

    def _change(self, node: int, span: tuple[int, int], wanted: tuple[int, int], by: int) -> None:
        first, last = span
        if wanted[0] <= first and last <= wanted[1]:
            self._counts[node] += by
        else:
            middle = (first + last) // 2
            if wanted[0] < middle:
                self._change(2 * node, (first, middle), wanted, by)
            if middle < wanted[1]:
                self._change(2 * node + 1, (middle, last), wanted, by)
        if self._counts[node]:
            self._covered[node] = self._bounds[last] - self._bounds[first]
        elif last - first == 1:
            self._covered[node] = 0
        else:
            self._covered[node] = self._covered[2 * node] + self._covered[2 * node + 1]
