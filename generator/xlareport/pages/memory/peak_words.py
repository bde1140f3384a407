"""Sentences on the peak of memory: where it is, what the live-range file says, what to reduce."""

from xlareport.analysis.cost.occupancy import MAIN_MEMORY
from xlareport.analysis.cost.saving import Saving
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.value_row import element_name
from xlareport.runtime import units
from xlareport.runtime.english import first_few, plain

_NAMED = 3
_LEAST_HELD = 0.01
"""Share of the peak; less is not listed."""
_HELD = {"parameter": "arguments", "output": "outputs", "constant": "constants"}


def peak_place(memory: MemoryReport) -> str:
    """Return where the peak is: its instruction, or positions and loops if it has no single one."""
    plateau = memory.plateau
    if plateau is None:
        return f" at `%{memory.peak_instruction}`" if memory.peak_instruction else ""
    loops = " and ".join(f"`%{name}`" for name in plateau.loops)
    where = f", in {loops}" if loops else ""
    first, last = units.count(plateau.first), units.count(plateau.last)
    others = units.plural(plateau.elsewhere, "other position") if plateau.elsewhere else ""
    also = f", and at {others}" if others else ""
    return f", within 1% of it from schedule position {first} to {last}{where}{also}"


def describe_live_range(memory: MemoryReport) -> str:
    """Return the peak that the live-range file gives, and how it is to be read."""
    live, marked = memory.figures.live_peak_bytes, memory.marked_position
    if live is None:
        return ""
    at = f" at position {units.count(marked)}" if marked is not None else ""
    spaces = " in all memory spaces" if len(memory.figures.spaces) > 1 else ""
    return (
        f"XLA's live-range file: peak {units.byte_size(live)}{at}, logical sizes{spaces}, shared "
        f"memory counted for each value.{_larger_sum(memory)}"
    )


def _larger_sum(memory: MemoryReport) -> str:
    """Return where the ranges of the file add up to more than the peak that it gives."""
    most, live = memory.live_sum, memory.figures.live_peak_bytes
    if most is None or live is None or units.byte_size(most.bytes) == units.byte_size(live):
        return ""
    size, position = units.byte_size(most.bytes), units.count(most.position)
    return (
        f" This is not the maximum: the ranges of the file add up to {size} at position {position}."
    )


def describe_marked(memory: MemoryReport) -> str:
    """Return where the live-range file has its mark, if that is another position."""
    if memory.marked_position in (None, memory.peak_position):
        return ""
    live = memory.figures.live_peak_bytes
    size = f" with {units.byte_size(live)}, a sum of logical sizes" if live is not None else ""
    return f" The live-range file marks position {units.count(memory.marked_position or 0)}{size}."


def describe_saving(memory: MemoryReport) -> str:
    """Return how the peak could be lowered by a fifth."""
    saving = memory.saving
    if saving is None:
        return ""
    if not saving.is_enough:
        most = units.byte_size(saving.reached)
        return f"Not reachable by reducing temp: {most} would remain{_held_words(memory)}."
    if not saving.buffers:
        return ""
    freed = sum(size for _, size in saving.buffers)
    text, these = (
        ("this buffer", "Size:")
        if len(saving.buffers) == 1
        else (f"these {len(saving.buffers):,} buffers", "Total size:")
    )
    why = _why_so_much(freed, saving.peak - saving.reached)
    words = plain(describe_takeovers(saving))
    in_place = f" {words}." if words else ""
    before, after = units.byte_size(saving.peak), units.byte_size(saving.reached)
    share = units.share(1 - saving.reached / saving.peak)
    return (
        f"{before} → {after} ({share} less) without {text}. {these} "
        f"{units.byte_size(freed)}{why}.{in_place} "
        "Estimate: schedule and buffer sharing are assumed unchanged."
    )


def _held_words(memory: MemoryReport) -> str:
    """Return the bytes of arguments, with the largest by name, and of other held memory."""
    main = next((curve for curve in memory.curves if curve.color == MAIN_MEMORY), None)
    least = _LEAST_HELD * (memory.occupied_peak_bytes or 0)
    held = {kind: size for kind, size in (main.held if main else {}).items() if size >= least}
    groups = [group for group in memory.argument_groups[:_NAMED] if group.size >= least]
    names = ", ".join(f"{group.name} {units.byte_size(group.size)}" for group in groups)
    of_names = f" ({names})" if names else ""
    parts = [
        f"{units.byte_size(held[kind])} of {words}{of_names if kind == 'parameter' else ''}"
        for kind, words in _HELD.items()
        if kind in held
    ]
    return f", with {', '.join(parts)}" if parts else ""


def describe_takeovers(saving: Saving) -> str:
    """Return which values use the memory of the buffers at other times, and also have to shrink."""
    words = [
        f"{first_few([f'`%{name}`' for name in names], _NAMED)} "
        f"(in the memory of `%{element_name(*key)}`)"
        for key, names in saving.taken_over.items()
    ]
    count = sum(map(len, saving.taken_over.values()))
    has = "has" if count == 1 else "have"
    return f"{first_few(words, _NAMED)} {has} to shrink as well" if words else ""


def _why_so_much(freed: int, saved: int) -> str:
    """Return why values are larger than their savings, which looks like a mistake."""
    if freed <= saved or units.byte_size(freed) == units.byte_size(saved):
        return ""
    return (
        ", more than the saving: each removal moves the peak to another schedule position, where "
        "the next largest value is chosen"
    )
