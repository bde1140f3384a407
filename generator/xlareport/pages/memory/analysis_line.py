"""The line that `compiled.memory_analysis()` prints, from the files of a dump."""

from xlareport.analysis.cost.memory import DEFAULT_SPACE, HeldMemory
from xlareport.analysis.cost.memory_stats import MemoryStats
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.knowledge.memory_spaces import space_name
from xlareport.runtime import units
from xlareport.runtime.english import listing

_SINCE = "from jaxlib 0.7.0 on"
"""The releases whose `CompiledMemoryStats` has a peak: 0.6.2 has none."""
_CPU_PEAK = "on CPU it excludes temporaries"


def analysis_line(memory: MemoryReport, backend: str | None) -> str:
    """Return the line with its figures; empty without a buffer assignment.

    A dump has no size of generated code.
    """
    held, stats = memory.figures.held, memory.stats
    if held is None or stats is None:
        return ""
    about = "" if stats.is_exact else "about "
    sizes = {
        "argument": ("", held.argument_bytes),
        "output": ("", held.output_bytes),
        "temp": (about, stats.temp_bytes),
        "alias": ("", held.alias_bytes),
        "peak": (about, stats.peak_bytes),
    }
    known_sizes = {name: (how, size) for name, (how, size) in sizes.items() if size is not None}
    parts = (f"{name} {how}{units.byte_size(size)}" for name, (how, size) in known_sizes.items())
    words = ", ".join(parts)
    unknown = listing([*(name for name in sizes if name not in known_sizes), "generated code size"])
    notes = [_SINCE, _peak_note(held, stats, backend, memory.chip)]
    note = f" ({'; '.join(filter(None, notes))})" if "peak" in known_sizes else ""
    return f"`memory_analysis()`: {words}{note}; {unknown} not in the dump."


def _peak_note(held: HeldMemory, stats: MemoryStats, backend: str | None, chip: str) -> str:
    """Return why this peak differs from the peak of the device memory; empty if it does not."""
    if backend == "cpu":
        return _CPU_PEAK if held.temp_bytes else ""
    if stats.peak_space in (None, DEFAULT_SPACE):
        return ""
    space = space_name(backend, stats.peak_space, chip)
    main = space_name(backend, DEFAULT_SPACE, chip)
    size = units.byte_size(stats.peak_space_bytes)
    counted = "a result counts in addition to the operand that it replaces"
    return f"{size} of it in {space}, where {counted}; peak memory is {main} alone"


def describe_padding(memory: MemoryReport) -> str:
    """Return how much of the arguments is padding, after a comma; empty if next to nothing is."""
    held, padding = memory.figures.held, memory.argument_padding_bytes
    if held is None or not padding:
        return ""
    whole = held.argument_bytes
    if units.byte_size(whole) == units.byte_size(whole - padding):
        return ""
    return f", with {units.byte_size(padding)} of tile padding"
