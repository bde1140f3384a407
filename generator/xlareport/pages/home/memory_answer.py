"""The answer on memory on the home page: the peak, what holds it, what is allocated."""

from xlareport.analysis.cost.memory import DEFAULT_SPACE
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.analysis.source.scopes import plain_path
from xlareport.pages.memory.analysis_line import analysis_line, describe_padding
from xlareport.records.cost import MemoryRecord, MemorySpaceRecord
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units
from xlareport.runtime.english import fits_code

_LEAST_SPACE = 0.01
"""Share of the peak of the device memory below which a space is not mentioned."""
_LEAST_HELD = 0.5
"""Share of the peak from which arguments and outputs are stated."""


def memory_lines(module: ModuleRecord, cost: CostReport | None) -> list[str]:
    """Return a line on the peak, and what is allocated with what `memory_analysis()` prints.

    The last is the suggestion that saves the most memory, if there is one.
    """
    memory = module.cost.memory if module.cost else None
    peak, reserved = module.final.occupied_peak_bytes, module.final.allocated_bytes
    message = ""
    if peak is not None:
        message = f"Peak memory {units.byte_size(peak)}."
    elif memory is not None and memory.estimated_peak_bytes is not None:
        message = _guessed_peak(memory.estimated_peak_bytes, reserved)
    padding = describe_padding(cost.memory) if cost is not None else ""
    message += _largest(memory, peak, padding) if memory is not None and message else ""
    allocated = "" if reserved is None else f"Allocated: {units.byte_size(reserved)}. "
    line = analysis_line(cost.memory, module.backend) if cost is not None else ""
    held = line if module.frontend == "jax" else _held_words(memory)
    lines = [line for line in (message, f"{allocated}{held}".strip()) if line]
    actions = memory.actions[:1] if memory is not None and lines else ()
    return [*lines, *(f"To lower it: {action.sentence}" for action in actions)]


def _guessed_peak(estimate: int, allocated: int | None) -> str:
    """Return the estimate, or the allocations if it is more: it does not see shared memory."""
    if allocated is not None and estimate > allocated:
        return f"Peak memory at most {units.byte_size(allocated)}, all that is allocated."
    return f"Peak memory about {units.byte_size(estimate)}, guessed from the schedule."


def _held_words(memory: MemoryRecord | None) -> str:
    """Return the memory of one run in XLA's terms; `memory_analysis()` is a function of JAX."""
    held = memory.held if memory is not None else None
    if held is None:
        return ""
    reused = (
        f" ({units.byte_size(held.alias_bytes)} in argument memory)" if held.alias_bytes else ""
    )
    return (
        f"Buffer assignment: arguments {units.byte_size(held.argument_bytes)}, outputs "
        f"{units.byte_size(held.output_bytes)}{reused}, temp {units.byte_size(held.temp_bytes)}."
    )


def _largest(memory: MemoryRecord, peak: int | None, padding: str = "") -> str:
    """Name the largest buffer in use at the peak; of equals, a value that is live there."""
    if not memory.at_peak:
        return ""
    value = max(memory.at_peak, key=lambda row: (row.bytes, bool(row.live_at_peak)))
    alike = sum(other.bytes == value.bytes for other in memory.at_peak)
    used = {space.number: space for space in memory.spaces if space.peak_bytes}
    main = used.pop(DEFAULT_SPACE, None)
    of_main = f" of {main.name}" if main and used else ""
    least = _LEAST_SPACE * ((main.peak_bytes if main else 0) or 0)
    large = [space for space in used.values() if (space.peak_bytes or 0) >= least]
    others = "".join(map(_in_use, large))
    size = units.byte_size(value.bytes)
    name = f"`%{value.value}`"
    if fits_code(value.argument or ""):
        name = f"`{value.argument}` ({name})"
    many = f" (one of {alike} of this size)" if alike > 1 else ""
    held = _held_part(memory, peak, padding)
    stacked = _stacked_in(memory, value.value)
    return f"{held} Largest buffer at the peak{of_main}: {name}, {size}{many}{stacked}.{others}"


def _stacked_in(memory: MemoryRecord, value: str) -> str:
    """Return what a loop stacks in a buffer, by its op_name; empty where that is not known."""
    stored = next(
        (stack.stored for stack in memory.stacked if value == f"{stack.loop}{{{stack.index}}}"), ""
    )
    path = plain_path(stored)
    return f", where the loop stacks `{path}`" if fits_code(path) else ""


def _held_part(memory: MemoryRecord, peak: int | None, padding: str) -> str:
    """Return how much of the peak arguments and outputs hold, if it is most of it."""
    if memory.held is None or not peak:
        return ""
    size = memory.held.argument_bytes + memory.held.output_bytes - memory.held.alias_bytes
    if not _LEAST_HELD * peak <= size <= peak:
        return ""
    return f" Arguments and outputs hold {units.byte_size(size)} of it{padding}."


def _in_use(space: MemorySpaceRecord) -> str:
    most = units.byte_size(space.peak_bytes or 0)
    return f" Not counted in the peak: {space.name.partition(',')[0]}, at most {most} in use."
