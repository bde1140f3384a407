"""Temp and peak as `compiled.memory_analysis()` gives them, from what the files of a dump say.

Buffer assignment keeps the sizes. What XLA adds is its own bookkeeping: the CPU client leaves the
temporaries out of its peak, others add the space with the most in use to what is held throughout,
and libtpu before 0.0.51 adds the fragmentation of its heap to the temporaries. The rules of libtpu
were found by comparing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.heap_use import CARRIED, count_most, is_table, measure_heap_use
from xlareport.analysis.cost.memory import DEFAULT_SPACE, HOST_SPACE, HeldMemory, sum_held
from xlareport.analysis.cost.occupancy import HELD, measure_most
from xlareport.hlo.model import HloModule
from xlareport.knowledge.opcodes import opcode_work
from xlareport.program import MemoryFiles
from xlareport.readers.buffer_assignment import Allocation, BufferAssignment, BufferValue
from xlareport.readers.live_range import LiveRange, LiveRanges
from xlareport.runtime.whole_numbers import round_up

_TPU_ALIGNMENT = 16_384
"""Alignment in bytes of a TPU's temporary buffers."""
_FRAGMENTATION_COUNTS = 994_787_025
"""The changelist of libtpu 0.0.50, whose temp has the fragmentation of the heap."""
_PATCHED = 1_004_524_046
"""The changelist of libtpu 0.0.50.1, later than that of 0.0.51, with the rule of 0.0.50."""
_HEAP_ALONE = 1_003_875_606
"""The changelist of libtpu 0.0.51, whose temp is the heap alone."""
_DIGITS = 18
_CARRIED = frozenset({"copy", "parameter", "while", "conditional", "get-tuple-element", "call"})
"""Opcodes that pass a scalar on, besides arithmetic."""


class MemoryStats(Struct, frozen=True):
    """Two figures of `memory_analysis()`, in bytes; None if unknown."""

    temp_bytes: int | None
    peak_bytes: int | None
    """Without the tables of pointers of tuples, which XLA does not count; on CPU without temp."""
    is_exact: bool
    """Whether the figures equal those of `memory_analysis()`, since XLA's rule is known; libtpu's
    was found by comparing."""
    peak_space: int | None = None
    """The number of the one memory space whose shared allocations the peak counts; None for none.

    It is the space with the most in use, on TPUs often one on the chip: the peak is then not a
    figure of the device memory. Values held during the whole execution are added, whatever their
    memory space.
    """
    peak_space_bytes: int = 0
    """Bytes of the peak in the shared allocations of that space, as XLA counts them.

    For a TPU's on-chip memory, a result counts in addition to the operand whose buffer it reuses.
    """


def find_memory_stats(
    files: MemoryFiles, module: HloModule, backend: str | None
) -> MemoryStats | None:
    """Return temp and peak; None without a buffer assignment."""
    assignment, live = files.assignment, files.live
    if assignment is None:
        return None
    held = sum_held(assignment)
    if backend == "cpu":
        return MemoryStats(held.temp_bytes, held.peak_without_temp_bytes, is_exact=True)
    is_tpu = backend == "tpu"
    temp = _tpu_temp(files, assignment, module) if is_tpu else held.temp_bytes
    throughout = _throughout(held, assignment)
    fullest = _fullest_space(assignment, live, module, is_tpu=is_tpu)
    if fullest is None:
        return MemoryStats(temp, None, is_exact=not is_tpu)
    space, size = fullest
    return MemoryStats(temp, throughout + size, not is_tpu, space if size else None, size)


def _throughout(held: HeldMemory, assignment: BufferAssignment) -> int:
    """Return the bytes held throughout, including arguments in host memory."""
    on_host = (item for item in assignment.allocations if item.color == HOST_SPACE)
    return held.peak_without_temp_bytes + sum(item.size for item in on_host if item.kind in HELD)


def _fullest_space(
    assignment: BufferAssignment, live: LiveRanges | None, module: HloModule, *, is_tpu: bool
) -> tuple[int, int] | None:
    """Return the memory space whose shared allocations have the highest peak, and its bytes.

    None if unknown.
    """
    shared = [item for item in _device_memory(assignment) if item.kind not in HELD]
    if not shared:
        return DEFAULT_SPACE, 0
    if live is None:
        return None
    most = {
        color: _most_in(color, shared, live, module if is_tpu else None)
        for color in sorted({item.color for item in shared})
    }
    sizes = {color: size for color, size in most.items() if size is not None}
    if len(sizes) < len(most):
        return None
    return max(sizes.items(), key=lambda item: item[1])


def _most_in(
    color: int, allocations: Iterable[Allocation], live: LiveRanges, tpu: HloModule | None
) -> int | None:
    """Return the most bytes of a space in use at once; `tpu` is the module where it is for a TPU.

    Elsewhere values that share a place in other memory are not known to count once or twice.
    """
    arrays = [_arrays_alone(item) for item in allocations if item.color == color]
    least = sum(measure_most(item, live) for item in arrays)
    if color == DEFAULT_SPACE:
        return least
    values = [value for item in arrays for value in item.values]
    if tpu is not None:
        return measure_chip_memory(values, live, tpu)
    return least if least == sum(_sum_most(item.values, live) for item in arrays) else None


def _device_memory(assignment: BufferAssignment) -> Iterable[Allocation]:
    for allocation in assignment.allocations:
        if not allocation.is_thread_local and allocation.color != HOST_SPACE:
            yield allocation


def _tpu_temp(files: MemoryFiles, assignment: BufferAssignment, module: HloModule) -> int | None:
    """Return libtpu's temp by the rule of its build; None for a build whose rule is not known."""
    temps = [
        allocation
        for allocation in assignment.allocations
        if allocation.is_preallocated_temp and allocation.color == DEFAULT_SPACE
    ]
    heap = sum(round_up(item.size, _TPU_ALIGNMENT) for item in temps)
    digits = (files.build or "").removeprefix("cl_")[:_DIGITS]
    build = int(digits) if digits.isdecimal() else None
    if build is None or _FRAGMENTATION_COUNTS < build < _HEAP_ALONE:
        return None
    if build <= _FRAGMENTATION_COUNTS or build == _PATCHED:
        return _with_fragmentation(heap, temps, files.live, module)
    return heap


def _with_fragmentation(
    heap: int, temps: Sequence[Allocation], live: LiveRanges | None, module: HloModule
) -> int | None:
    """Return the heap of buffer assignment and, once more, what it leaves unused.

    None without live ranges. Where the heap holds nothing but tables of tuples and scalars, which
    live in registers, libtpu needs no heap.
    """
    opcodes = {instruction.name: instruction.opcode for instruction in module.instructions}
    if not any(_is_in_memory(value, opcodes) for item in temps for value in item.values):
        return 0
    if live is None:
        return None
    return 2 * heap - sum(measure_heap_use(item, live, module) for item in temps)


def _is_in_memory(value: BufferValue, opcodes: Mapping[str, str]) -> bool:
    """Return whether a value is in a TPU's device memory: neither a table nor a scalar register."""
    if is_table(value):
        return False
    opcode = opcodes.get(value.instruction, "")
    is_scalar = value.shape.partition("{")[0].endswith(("[]", "[1]"))
    return not (is_scalar and (opcode in opcode_work().elementwise or opcode in _CARRIED))


def _arrays_alone(allocation: Allocation) -> Allocation:
    values = tuple(value for value in allocation.values if not is_table(value))
    return replace(allocation, values=values)


_EVER = 1 << 62
"""Position that comes after all others."""


def _sum_most(values: Iterable[BufferValue], live: LiveRanges) -> int:
    """Return the most bytes that live at once if no two values share a place."""
    ranges = live.by_value
    lives = ((ranges.get((value.instruction, value.index)), value.size) for value in values)
    return count_most(
        (life.start, life.end, size) if life else (0, _EVER, size) for life, size in lives
    )


_Ranges = Mapping[tuple[str, tuple[int, ...]], LiveRange]


def measure_chip_memory(
    values: Iterable[BufferValue], live: LiveRanges, module: HloModule
) -> int | None:
    """Return the peak bytes in use of one memory space.

    None if that depends on values which reuse a part of another value's buffer.
    """
    ranges = live.by_value
    opcodes = {instruction.name: instruction.opcode for instruction in module.instructions}
    carried = {name for name, opcode in opcodes.items() if opcode in CARRIED}
    sized = [value for value in values if value.size and not is_table(value)]
    sized.sort(key=lambda value: (_start(value, ranges), value.id))
    beside = count_most(_spans(sized, ranges, carried, is_part_new=True))
    instead = count_most(_spans(sized, ranges, carried, is_part_new=False))
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
