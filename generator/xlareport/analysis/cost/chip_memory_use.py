"""The on-chip memory of a TPU that XLA counts as used at once, for the peak.

Derived by comparison with `memory_analysis()`. An instruction's result counts in addition to the
operand whose buffer it reuses, because both are live at that position. Loop-carried values are no
new values.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlareport.analysis.cost.heap_use import CARRIED, count_most, is_table
from xlareport.hlo.model import HloModule
from xlareport.readers.buffer_assignment import BufferValue
from xlareport.readers.live_range import LiveRange, LiveRanges

_Ranges = Mapping[tuple[str, tuple[int, ...]], LiveRange]


def measure_chip_memory(
    values: Iterable[BufferValue], live: LiveRanges, module: HloModule
) -> int | None:
    """Return the peak bytes in use of one memory space.

    None if that depends on values which reuse a part of another value's buffer.
    """
    ranges = {(item.instruction, item.index): item for item in live.ranges}
    opcodes = {instruction.name: instruction.opcode for instruction in module.instructions}
    carried = {name for name, opcode in opcodes.items() if opcode in CARRIED}
    kept = [value for value in values if value.size and not is_table(value)]
    kept.sort(key=lambda value: (_start(value, ranges), value.id))
    beside = count_most(_spans(kept, ranges, carried, is_part_new=True))
    instead = count_most(_spans(kept, ranges, carried, is_part_new=False))
    return beside if beside == instead else None


def _start(value: BufferValue, ranges: _Ranges) -> int:
    lives = ranges.get((value.instruction, value.index))
    return lives.start if lives else 0


def _spans(
    values: Sequence[BufferValue], ranges: _Ranges, carried: set[str], *, is_part_new: bool
) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and bytes; several results that an instruction has at one place once."""
    last = max((lives.end for lives in ranges.values()), default=0)
    ending: dict[int, list[BufferValue]] = defaultdict(list)
    seen: set[tuple[int, int, int]] = set()
    for value in values:
        lives = ranges.get((value.instruction, value.index))
        if lives is None:
            yield 0, last, value.size
            continue
        place = value.offset, value.size, lives.start
        if place in seen:
            continue
        seen.add(place)
        ends_here = [other for other in ending[lives.start] if _overlap(other, value)]
        whole = [(other.offset, other.size) == place[:2] for other in ends_here]
        is_same = value.instruction in carried and any(whole)
        is_part = not all(whole)
        is_late = is_same or (is_part and not is_part_new)
        ending[lives.end].append(value)
        if lives.start + is_late <= lives.end:
            yield lives.start + is_late, lives.end, value.size


def _overlap(value: BufferValue, other: BufferValue) -> bool:
    return value.offset < other.offset + other.size and other.offset < value.offset + value.size
