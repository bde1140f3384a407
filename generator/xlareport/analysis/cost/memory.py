"""Memory use of a module: different figures, each from its own file."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from xlareport.readers.buffer_assignment import Allocation, BufferAssignment, BufferValue
from xlareport.readers.live_range import LiveRanges
from xlareport.readers.memory_usage_report import SpaceUsage

DEFAULT_SPACE = 0
HOST_SPACE = 5
"""The host's memory on every backend: `Layout::kHostMemorySpace` in openxla/xla, xla/layout.h."""


class SpaceFigures(Struct, frozen=True):
    """One memory space of the device."""

    color: int
    """Its number, the backend's own."""
    allocated_bytes: int
    """Without thread-local allocations, where the buffer assignment tells them apart."""
    temp_bytes: int | None
    """None if the dump has only the memory usage report."""
    thread_local_bytes: int = 0
    """Values of computations that run inside an instruction; nothing is set aside for them."""

    @property
    def total_bytes(self) -> int:
        """Return the sum that the memory usage report has."""
        return self.allocated_bytes + self.thread_local_bytes


class HeldMemory(Struct, frozen=True):
    """The memory that the runtime holds for a run on one device, as in `memory_analysis()`; bytes.

    The rules are those of `CompiledMemoryStats::PopulateBufferStatsFromAllocations` in openxla/xla,
    xla/pjrt/pjrt_executable.cc. The size of the generated code is in no file of a dump.
    """

    argument_bytes: int
    output_bytes: int
    """Includes results that are written over arguments."""
    temp_bytes: int
    """Temporaries of buffer assignment; libtpu counts others whose size no file of a dump has."""
    alias_bytes: int
    """Outputs written over arguments: counted in both of the first two."""
    host_bytes: int
    """Arguments, outputs and temporaries in host memory, which no other figure includes."""
    constant_bytes: int = 0
    """Constants of the module, which no other figure includes."""

    @property
    def peak_without_temp_bytes(self) -> int:
        """Return the peak that jaxlib 0.10 gives for a CPU: constants in it, temporaries not."""
        return self.total_bytes - self.temp_bytes + self.constant_bytes

    @property
    def total_bytes(self) -> int:
        """Return arguments, outputs and temporaries; memory that is reused counts once."""
        return self.argument_bytes + self.output_bytes + self.temp_bytes - self.alias_bytes


class MemoryFigures(Struct, frozen=True):
    """The memory figures of a module on one device, in bytes; None if no file has them.

    `allocated_bytes` and `temp_bytes` are for the default memory space: a TPU's VMEM is never added
    to its HBM; `spaces` has each space.
    """

    allocated_bytes: int | None
    """The sum of the allocations: reserved memory, whether used at once or not.

    Thread-local ones are left out where the buffer assignment tells them apart.
    """
    live_peak_bytes: int | None
    """The peak of the live-range file: logical sizes, parameters included, without padding.

    It adds all memory spaces, so that it is not the peak of a TPU's HBM and can exceed
    `allocated_bytes`.
    """
    temp_bytes: int | None
    """The allocations for temporaries, in addition to parameters, outputs and constants."""
    spaces: tuple[SpaceFigures, ...]
    """By number."""
    sources: Mapping[str, str]
    """The kind of file that each known figure was read from."""
    held: HeldMemory | None = None
    """None where there is no buffer assignment."""

    def __repr__(self) -> str:
        """Return the bytes of the device's memory."""
        fields = ("allocated_bytes", "live_peak_bytes", "temp_bytes")
        values = ", ".join(f"{name}={getattr(self, name)}" for name in fields)
        return f"{type(self).__name__}({values})"


class KindTotal(Struct, frozen=True):
    """The allocations of one kind in one memory space."""

    color: int
    kind: str
    """`parameter`, `output`, `temp`, `constant`, `thread-local` or `other`."""
    count: int
    size: int
    """Bytes."""


class PlacedValue(Struct, frozen=True):
    """A value with its allocation."""

    value: BufferValue
    allocation: Allocation

    def __repr__(self) -> str:
        """Return instruction, size and allocation, without the allocation's many other values."""
        value, index = self.value, self.allocation.index
        return f"<PlacedValue %{value.instruction}: {value.size:,} bytes in allocation {index}>"


def collect_memory_figures(
    assignment: BufferAssignment | None,
    live: LiveRanges | None,
    report: Iterable[SpaceUsage] = (),
) -> MemoryFigures:
    """Bring the figures together; buffer assignment comes before the memory usage report."""
    spaces = _assigned(assignment) if assignment is not None else _reported(report)
    default = next((space for space in spaces if space.color == DEFAULT_SPACE), None)
    source = "buffer-assignment" if assignment is not None else "memory-usage-report"
    allocated = default.allocated_bytes if default else (0 if spaces else None)
    temp = default.temp_bytes if default else (0 if assignment and spaces else None)
    peak = live.peak_bytes if live is not None else None
    figures = {"allocated_bytes": (allocated, source), "temp_bytes": (temp, source)}
    figures["live_peak_bytes"] = (peak, "live-range")
    sources = {name: kind for name, (figure, kind) in figures.items() if figure is not None}
    held = sum_held(assignment) if assignment is not None else None
    return MemoryFigures(allocated, peak, temp, spaces, sources, held)


def sum_held(assignment: BufferAssignment) -> HeldMemory:
    """Return the memory held by the runtime, without values in on-chip memory."""
    sums: Counter[str] = Counter()
    for allocation in assignment.allocations:
        if allocation.color == HOST_SPACE:
            sums["host"] += allocation.size
            continue
        is_argument = allocation.parameter is not None
        sums["argument"] += allocation.size if is_argument else 0
        sums["output"] += allocation.size if allocation.maybe_live_out else 0
        sums["alias"] += allocation.size if is_argument and allocation.maybe_live_out else 0
        sums["constant"] += allocation.size if allocation.is_constant else 0
        is_temp = allocation.is_preallocated_temp and allocation.color == DEFAULT_SPACE
        sums["temp"] += allocation.size if is_temp else 0
    names = ("argument", "output", "temp", "alias", "host", "constant")
    return HeldMemory(*(sums[name] for name in names))


def sum_by_kind(assignment: BufferAssignment) -> tuple[KindTotal, ...]:
    """Sum up the allocations by memory space and kind, largest first within a space."""
    sizes: Counter[tuple[int, str]] = Counter()
    counts: Counter[tuple[int, str]] = Counter()
    for allocation in assignment.allocations:
        sizes[allocation.color, allocation.kind] += allocation.size
        counts[allocation.color, allocation.kind] += 1
    totals = (KindTotal(*key, counts[key], size) for key, size in sizes.items())
    return tuple(sorted(totals, key=lambda total: (total.color, -total.size, total.kind)))


def rank_values(assignment: BufferAssignment, count: int) -> tuple[PlacedValue, ...]:
    """Return the largest values, each instruction's element once, largest first.

    Thread-local values are left out: they have no place in the schedule.
    """
    placed: dict[tuple[str, tuple[int, ...]], PlacedValue] = {}
    for allocation in assignment.allocations:
        if allocation.is_thread_local:
            continue
        for value in allocation.values:
            placed.setdefault((value.instruction, value.index), PlacedValue(value, allocation))
    ranked = sorted(
        placed.values(), key=lambda placed_value: (-placed_value.value.size, placed_value.value.id)
    )
    return tuple(ranked[:count])


class ModuleMemory(MemoryFigures, frozen=True):
    """The figures of a module, with the buffers behind them."""

    assignment: BufferAssignment | None = None

    def top_buffers(self, count: int = 10) -> tuple[PlacedValue, ...]:
        """Return the largest values in memory with their allocations, the largest first.

        Empty where the dump has no buffer assignment.
        """
        return rank_values(self.assignment, count) if self.assignment else ()


def with_buffers(figures: MemoryFigures, assignment: BufferAssignment | None) -> ModuleMemory:
    """Return figures together with the buffer assignment that they were read from."""
    return ModuleMemory(
        allocated_bytes=figures.allocated_bytes,
        live_peak_bytes=figures.live_peak_bytes,
        temp_bytes=figures.temp_bytes,
        spaces=figures.spaces,
        sources=figures.sources,
        held=figures.held,
        assignment=assignment,
    )


def _assigned(assignment: BufferAssignment) -> tuple[SpaceFigures, ...]:
    allocated, temp, inside = Counter[int](), Counter[int](), Counter[int]()
    for allocation in assignment.allocations:
        sizes = inside if allocation.is_thread_local else allocated
        sizes[allocation.color] += allocation.size
        temp[allocation.color] += allocation.size if allocation.is_preallocated_temp else 0
    return tuple(
        SpaceFigures(color, allocated[color], temp[color], inside[color])
        for color in sorted(allocated.keys() | inside.keys())
    )


def _reported(report: Iterable[SpaceUsage]) -> tuple[SpaceFigures, ...]:
    sizes = {space_usage.color: space_usage.total_bytes for space_usage in report}
    return tuple(SpaceFigures(color, size, None) for color, size in sorted(sizes.items()))
